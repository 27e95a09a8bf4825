/**
 * Images that are accepted and rejected by keys, as fast as they are pressed.
 *
 * What is pressed is drawn at once and kept in a log, of which Python hears what it has not taken
 * over yet. So nothing is lost when keys come faster than answers, or when an answer is late.
 */

import { element } from "./dom.js";
import { ImageGrid } from "./grid.js";
import { DecisionLog } from "./log.js";

const PUSH_DELAY_MS = 250; // one report for a run of keys
const REPEAT_MS = 3000;
const PATIENCE_MS = 60000; // what was pressed for a page that comes later than this is forgotten
const KEYS = ["a", "r", "x", "u", "o", "m", "n", "d", " "];
const DECIDING = ["a", "r", "x", "u"];
const BUTTONS = { a: ["Accept", "accepted"], r: ["Reject", "rejected"], u: ["Undo"], d: ["Details"] };
const MARKS = { accepted: "✓", rejected: "✗", pending: "…" };
const SAID = { accepted: "accepted", rejected: "rejected", pending: "being compared" };

/**
 * What a person has pressed and Python has not taken over, with the keys for the grid that is on its
 * way, and whether keys are for a grid at all: for the newest one, at the image `at`. All this is the
 * document's, not a grid's: Streamlit may draw a grid anew in another place meanwhile.
 */
const pressed = { log: new DecisionLog(crypto.randomUUID()), waiting: null, held: false, grid: null, at: null };

const TAKING = ["focusin", "pointerdown"]; // by which the keyboard goes to what is used
TAKING.forEach((kind) => document.addEventListener(kind, () => (pressed.held = false), true));
document.addEventListener("keydown", (event) => isFree() && pressed.grid.press(event));

/** Whether a grid had the keyboard, and was taken off the page with it. */
function isFree() {
  return pressed.held && (document.activeElement ?? document.body) === document.body;
}

/** Keep what is pressed from now on: for another page than one, or, without one, for the next grid. */
function wait(from) {
  pressed.waiting ??= { keys: [], from, until: Date.now() + PATIENCE_MS };
}

export class ReviewGrid extends ImageGrid {
  /** @param {ParentNode & Node} parent */
  constructor(parent) {
    super(parent);
    this.log = pressed.log;
    this.marked = new Set(); // ids of the cells that the next key is about, if there are any
    this.reports = 0;
    this.note = element("p", { className: "note", attributes: { role: "status" } });
    this.bar = this.buttons(["a", "r", "u", "d"]);
    this.lightboxBar = this.buttons(["a", "r", "d"]);
    this.root.classList.add("review");
    this.root.append(element("div", { className: "bar" }, [...this.bar, this.note]));
    this.lightbox.count.before(...this.lightboxBar);
    this.root.addEventListener("keydown", (event) => this.press(event));
    TAKING.forEach((kind) => this.root.addEventListener(kind, () => (pressed.held = true)));
    pressed.grid = this;
  }

  /** Buttons that do what keys do. */
  buttons(keys) {
    return keys.map((key) => {
      const [label, verdict = ""] = BUTTONS[key];
      const button = element("button", {
        type: "button",
        className: "word",
        textContent: label,
        attributes: { "data-key": key, "data-means": verdict, "aria-keyshortcuts": key.toUpperCase() },
      });
      button.addEventListener("click", () => this.act(key));
      return button;
    });
  }

  destroy() {
    clearTimeout(this.pushTimer);
    super.destroy();
  }

  /** Take over what Python sends. */
  update(host) {
    const { taken, verdicts, notes } = host.data;
    const before = this.ids;
    this.log.take(taken, verdicts);
    this.notes = notes;
    super.update(host);
    if (this.ids !== before) {
      this.marked = new Set(this.images.map(({ id }) => id).filter((id) => this.marked.has(id)));
    }
    if (!before && isFree()) this.takeKeyboard();
    if (pressed.waiting && pressed.waiting.from !== this.ids) this.arrive();
    if (!before && (this.log.entries.length || pressed.waiting)) this.push(); // of a grid that is gone
    this.paint();
  }

  /** Go on at the image where the keyboard was, without a jump of the page. */
  takeKeyboard() {
    const index = this.images.findIndex(({ id }) => id === pressed.at);
    this.cells[Math.max(0, index)]?.focus({ preventScroll: true });
  }

  /** Act on the keys that were pressed for this page, or for this grid. */
  arrive() {
    const { keys, from, until } = pressed.waiting;
    pressed.waiting = null;
    if (Date.now() > until) return;
    if (from) this.focus(0);
    keys.forEach((key) => this.act(key));
  }

  cell(image, index, overlay) {
    const cell = super.cell(image, index, overlay);
    cell.append(element("span", { className: "mark", attributes: { "aria-hidden": "true" } }));
    return cell;
  }

  move(event) {
    const from = this.images[this.focused];
    super.move(event);
    if (!event.shiftKey || !event.key.startsWith("Arrow")) return;
    this.marked.add(from.id).add(this.images[this.focused].id);
    this.paint();
  }

  press(event) {
    const key = event.key.toLowerCase();
    if (event.ctrlKey || event.metaKey || event.altKey || !KEYS.includes(key)) return;
    if (key === " " && !this.cells.includes(event.target)) return; // it presses a button
    event.preventDefault(); // it would open the image
    this.act(key);
  }

  /** Do what a key means. */
  act(key) {
    if (DECIDING.includes(key) && !this.host.data.decides) return;
    if (!this.isAttached()) wait(null);
    if (pressed.waiting) {
      pressed.waiting.keys.push(key);
      return;
    }
    if (key === "a") this.decide("accepted");
    if (key === "r" || key === "x") this.decide("rejected");
    if (key === "u") this.undo();
    if (key === " ") this.mark(this.focused);
    if (key === "n") this.on();
    if (key === "o") this.host.setTriggerValue("original", { on: !this.host.data.original });
    if (key === "d") this.ask_details();
    if (key === "m") this.host.setTriggerValue("overlay", { on: !this.host.data.overlay });
    this.paint();
  }

  /** All that is known of the image, which the page shows below the grid. */
  ask_details() {
    const { id } = this.current();
    this.lightbox.dialog.close();
    this.host.setTriggerValue("details", { id });
  }

  /** The image that keys are about: the one that is open, or that has the focus. */
  current() {
    return this.images[this.lightbox.index ?? this.focused];
  }

  ask(id) {
    super.ask(id);
    this.paint();
  }

  mark(index) {
    const { id } = this.images[index];
    if (!this.marked.delete(id)) this.marked.add(id);
  }

  decide(verdict) {
    if (!this.images.length) return;
    const opened = this.lightbox.index;
    const ids = this.marked.size && opened === null ? [...this.marked] : [this.current().id];
    this.log.add(verdict, ids);
    this.push();
    const single = !this.marked.size;
    this.marked.clear();
    if (opened !== null) this.lightbox.step(1);
    else if (single) this.on();
  }

  undo() {
    const ids = this.log.undo();
    if (!ids) return;
    this.push();
    const index = this.images.findIndex(({ id }) => id === ids[0]);
    if (index >= 0 && this.lightbox.index === null) this.focus(index);
  }

  /** Go to the next image, which may be the first of the next page. */
  on() {
    if (this.focused + 1 < this.cells.length) this.focus(this.focused + 1);
    else if (this.host.data.more) {
      wait(this.ids);
      this.turn();
      this.push();
    }
  }

  push() {
    clearTimeout(this.pushTimer);
    this.pushTimer = setTimeout(() => this.report(), PUSH_DELAY_MS);
  }

  /** Tell Python what it has not taken over, and again until it has: a busy page may drop a run. */
  report() {
    this.reports += 1;
    this.host.setStateValue("log", { ...this.log.report(), reports: this.reports });
    if (pressed.waiting?.from) this.turn();
    this.pushTimer = setTimeout(() => (this.log.entries.length || pressed.waiting) && this.report(), REPEAT_MS);
  }

  turn() {
    this.host.setTriggerValue("page", { after: this.images.at(-1).id });
  }

  reach(index) {
    super.reach(index);
    pressed.at = this.images[index].id;
    this.tell();
  }

  paint() {
    this.images.forEach(({ id, alt }, index) => {
      const cell = this.cells[index];
      const verdict = this.log.verdict(id);
      cell.dataset.verdict = verdict;
      cell.classList.toggle("marked", this.marked.has(id));
      cell.querySelector(".mark").textContent = MARKS[verdict];
      cell.querySelector("img").alt = `${alt}: ${SAID[verdict]}`;
      cell.setAttribute("aria-label", `${index + 1}: ${alt}: ${SAID[verdict]}${this.marked.has(id) ? ", selected" : ""}`);
    });
    this.tell();
  }

  tell() {
    const image = this.images[this.focused];
    if (!image) return;
    this.note.textContent = `${this.focused + 1} of ${this.images.length}: ${this.notes[image.id] ?? ""}`;
    const { decides } = this.host.data;
    [...this.bar, ...this.lightboxBar].forEach((button) => {
      const { key, means } = button.dataset;
      button.hidden = DECIDING.includes(key) && !decides;
      if (means) button.setAttribute("aria-pressed", String(this.log.verdict(this.current().id) === means));
    });
  }
}
