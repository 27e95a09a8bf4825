/** The elements around and over the canvas. Texts are set as text, never as HTML. */

import { Axis } from "./axis.js";
import { element, hidden, iconButton } from "./dom.js";
import { Hulls } from "./hulls.js";
import css from "./style.css";

const POINTER_HINT = "Click selects · Shift + drag: an area · double-click expands · Ctrl + wheel zooms";
const KEYBOARD_HINT = "Arrows move · Enter selects · E expands · Esc clears · + − 0 zoom";
const KEYBOARD_HELP =
  "Arrow keys move to the nearest node in that direction, Enter or Space selects it, E expands it, " +
  "plus and minus zoom, 0 shows the whole graph, Escape clears the selection.";

const ICONS = {
  "Zoom in": "M3 8h10M8 3v10",
  "Zoom out": "M3 8h10",
  "Show the whole graph": "M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5M8 1v3M8 12v3M1 8h3M12 8h3",
};

/** Room at the top that is kept for the buttons, in pixels. */
export const STRIP_PX = 44;

export class Frame {
  /** @param {ParentNode & Node} parent */
  constructor(parent) {
    this.axis = new Axis();
    this.hulls = new Hulls();
    this.canvas = element("div", { className: "canvas", attributes: { "aria-hidden": "true" } });
    this.stage = element(
      "div",
      {
        className: "stage",
        tabIndex: 0,
        attributes: {
          role: "application",
          "aria-roledescription": "graph",
          "aria-describedby": "summary help",
        },
      },
      [this.axis.svg, this.hulls.svg, this.canvas],
    );
    this.buttons = Object.fromEntries(
      Object.entries(ICONS).map(([label, path]) => [label, iconButton(label, path)]),
    );
    const controls = element("div", { className: "controls", attributes: { role: "group", "aria-label": "Zoom" } }, [
      this.buttons["Zoom in"],
      this.buttons["Zoom out"],
      this.buttons["Show the whole graph"],
    ]);
    this.hint = element("div", { className: "hint", textContent: POINTER_HINT, attributes: { "aria-hidden": "true" } });
    this.tooltip = element("div", { className: "tooltip", hidden: true, attributes: { role: "tooltip" } });
    this.empty = element("div", { className: "empty", hidden: true, textContent: "Nothing to draw." });
    this.summary = hidden({ id: "summary" });
    this.live = hidden({ attributes: { role: "status", "aria-live": "polite" } });
    this.root = element("div", { className: "concept-graph", attributes: { "data-testid": "concept-graph" } }, [
      element("style", { textContent: css }),
      this.stage,
      this.hint,
      controls,
      this.empty,
      this.tooltip,
      this.summary,
      hidden({ id: "help", textContent: KEYBOARD_HELP }),
      this.live,
    ]);
    parent.append(this.root);
  }

  size() {
    return { width: this.stage.clientWidth, height: this.stage.clientHeight };
  }

  setShape(label, height_px) {
    this.stage.setAttribute("aria-label", label);
    this.root.style.height = `${height_px}px`;
  }

  /** Show that the keyboard is on the graph, and what it does there. */
  setKeyboard(keyboard) {
    this.root.classList.toggle("by-keyboard", keyboard);
    this.hint.textContent = keyboard ? KEYBOARD_HINT : POINTER_HINT;
  }

  announce(text) {
    this.live.textContent = text;
  }

  /**
   * Show names and a description beside a point, inside the frame.
   * @param {string[]} names
   * @param {string} description
   * @param {{x: number, y: number, radius: number}} anchor in pixels of the stage
   */
  showTooltip(names, description, anchor) {
    this.tooltip.replaceChildren(
      element("strong", {}, names.flatMap((name, i) => [i ? " – " : "", element("bdi", { textContent: name || "(no name)" })])),
      ...(description ? [element("p", { className: "description", dir: "auto", textContent: description })] : []),
    );
    this.tooltip.hidden = false;
    const { width, height } = this.size();
    const [ownWidth, ownHeight] = [this.tooltip.offsetWidth, this.tooltip.offsetHeight];
    const gap = anchor.radius + 12;
    const below = anchor.y + gap + ownHeight <= height - 8;
    const left = between(anchor.x - ownWidth / 2, 8, width - ownWidth - 8);
    const top = between(below ? anchor.y + gap : anchor.y - gap - ownHeight, 8, height - ownHeight - 8);
    this.tooltip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  hideTooltip() {
    this.tooltip.hidden = true;
  }

  remove() {
    this.root.remove();
  }
}

const between = (value, low, high) => Math.max(low, Math.min(high, value));
