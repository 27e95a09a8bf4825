/** The steps of a story: one control for them all, and the way of the nodes from one to another. */

import { element, icon } from "./dom.js";

const MOVE_MS = 900; // from one step to the next
const FADE_MS = 350;
const PAUSE_MS = 700; // at each step while it plays
const ICONS = { Play: "M5 3l8 5-8 5z", Pause: "M5 3v10M11 3v10" };
const KEYS = { ArrowRight: 1, ArrowUp: 1, PageUp: 1, ArrowLeft: -1, ArrowDown: -1, PageDown: -1 };

const eased = (share) => (share < 0.5 ? 4 * share ** 3 : 1 - 4 * (1 - share) ** 3);
export const wantsNoMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Story {
  /** @param {import("./graph.js").ConceptGraph} graph */
  constructor(graph) {
    this.graph = graph;
    this.frame = graph.frame;
    this.steps = []; // their ids and names
    this.place = 0; // 1.5 is halfway from the second step to the third
    this.moving = false;
    this.playing = false;
    this.request = null; // the newest of Python's steps that has been taken over
    this.range = element("input", {
      type: "range",
      min: "0",
      attributes: { "aria-label": "Step of the story", step: "any" },
    });
    this.names = element("div", { className: "names", attributes: { "aria-hidden": "true" } });
    this.button = element("button", { type: "button" });
    this.bar = element("div", { className: "steps", hidden: true }, [
      this.button,
      element("div", { className: "track" }, [this.range, this.names]),
    ]);
    this.frame.root.prepend(this.bar);
    this.showPlaying(false);
    this.listen();
  }

  stop() {
    cancelAnimationFrame(this.animation);
    clearTimeout(this.pause);
  }

  // ---- From Python -------------------------------------------------------------------------

  /** Take over the steps; where the elements are new, they begin where they are wanted. */
  update({ steps, step, step_request: request }, changed) {
    const ids = steps.map(({ id }) => id);
    const now = this.steps[Math.round(this.place)]?.id;
    if (changed) {
      this.steps = steps.map(({ id, name }) => ({ id, name }));
      this.draw();
    }
    if (!steps.length) return;
    const asked = request !== this.request;
    const wanted = Math.max(0, ids.indexOf(asked ? step : now));
    const first = this.request === null;
    this.request = request;
    if (changed) {
      this.stop();
      this.moving = false;
      this.jump(wanted);
      this.graph.elements.moveTo(wanted);
    }
    if (asked && !changed && !first) this.go(wanted);
  }

  draw() {
    const { root } = this.frame;
    const many = this.steps.length > 1;
    this.bar.hidden = !many;
    root.classList.toggle("with-steps", many);
    this.range.max = String(Math.max(1, this.steps.length - 1));
    this.bar.style.setProperty("--steps", this.steps.length);
    this.names.replaceChildren(
      ...this.steps.map(({ name }, i) => {
        const label = element("span", {}, [element("bdi", { textContent: name })]);
        label.addEventListener("click", () => this.choose(i));
        return label;
      }),
    );
  }

  // ---- A person ----------------------------------------------------------------------------

  listen() {
    this.range.addEventListener("input", () => this.drag(Number(this.range.value)));
    this.range.addEventListener("change", () => this.choose(Math.round(Number(this.range.value))));
    this.range.addEventListener("keydown", (event) => {
      const last = this.steps.length - 1;
      const now = Math.round(this.target ?? this.place);
      const ends = { Home: 0, End: last };
      const to = event.key in KEYS ? now + KEYS[event.key] : ends[event.key];
      if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.choose(Math.max(0, Math.min(last, to)));
    });
    this.button.addEventListener("click", () => (this.playing ? this.halt() : this.play()));
  }

  /** Follow a hand on the control. */
  drag(place) {
    this.halt();
    this.stop();
    if (!wantsNoMotion()) {
      this.moving = true;
      this.show(place);
    } else if (Math.round(place) !== this.place) this.fadeTo(Math.round(place));
  }

  async choose(step) {
    this.halt();
    if (await this.go(step)) this.report();
  }

  async play() {
    const last = this.steps.length - 1;
    this.showPlaying(true);
    if (this.place >= last) await this.go(0);
    while (this.playing && this.place < last) {
      await this.go(Math.floor(this.place) + 1);
      if (this.place < last) await new Promise((resolve) => (this.pause = setTimeout(resolve, PAUSE_MS)));
    }
    if (this.playing) this.report();
    this.showPlaying(false);
  }

  halt() {
    if (this.playing) this.showPlaying(false);
  }

  showPlaying(playing) {
    this.playing = playing;
    const label = playing ? "Pause" : "Play";
    this.button.setAttribute("aria-label", `${label} the steps`);
    this.button.title = `${label} the steps`;
    this.button.replaceChildren(icon(ICONS[label]));
  }

  report() {
    const { id } = this.steps[this.place];
    this.graph.host.setStateValue("step", { nodes: [id], request: this.request });
  }

  // ---- Moving ------------------------------------------------------------------------------

  /** The id of the step that is shown, null between two. */
  settled() {
    return this.moving ? null : (this.steps[this.place]?.id ?? null);
  }

  /** Move to a step; true once it is there, false if another came between. */
  go(step) {
    cancelAnimationFrame(this.animation);
    this.turn = (this.turn ?? 0) + 1;
    const turn = this.turn;
    if (wantsNoMotion() || step === this.place) {
      if (step === this.place) this.settle(step);
      else this.fadeTo(step);
      return Promise.resolve(true);
    }
    this.target = step;
    this.moving = true;
    this.graph.hover(null);
    const from = this.place;
    const duration = MOVE_MS * Math.min(1.6, Math.max(0.4, Math.abs(step - from)));
    return new Promise((resolve) => {
      let began = null;
      const frame = (now) => {
        if (!this.graph.alive() || turn !== this.turn) return resolve(false);
        began ??= now;
        const share = Math.min(1, (now - began) / duration);
        this.show(from + (step - from) * eased(share));
        if (share < 1) return void (this.animation = requestAnimationFrame(frame));
        this.settle(step);
        resolve(true);
      };
      this.animation = requestAnimationFrame(frame);
    });
  }

  /** Draw what is at a place, with labels where they are. */
  show(place) {
    this.jump(place);
    this.graph.elements.moveTo(place);
    this.graph.paint();
    this.graph.view.place();
  }

  settle(step) {
    this.moving = false;
    this.target = undefined;
    this.show(step);
    this.graph.describe();
  }

  /** One picture fades into the other, and nothing moves. */
  fadeTo(step) {
    const { canvas, stage } = this.frame;
    const layers = [...canvas.querySelectorAll("canvas")];
    const before = element("canvas", { className: "before", width: layers[0].width, height: layers[0].height });
    layers.forEach((layer) => before.getContext("2d").drawImage(layer, 0, 0));
    stage.append(before);
    before.animate([{ opacity: 1 }, { opacity: 0 }], FADE_MS).finished.finally(() => before.remove());
    canvas.animate([{ opacity: 0 }, { opacity: 1 }], FADE_MS);
    this.settle(step);
  }

  /** Set the control alone. */
  jump(place) {
    this.place = place;
    this.range.value = String(place);
    const near = Math.round(place);
    this.range.setAttribute("aria-valuetext", this.steps[near]?.name ?? "");
    [...this.names.children].forEach((label, i) => label.classList.toggle("now", i === near));
  }
}
