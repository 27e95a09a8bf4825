/** What the keyboard does with the graph. */

import { Elements } from "./elements.js";
import { nearestTowards } from "./placement.js";
import { ZOOM_STEP } from "./pointer.js";
import { announcement } from "./text.js";

const DIRECTIONS = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

export class Keyboard {
  /** @param {import("./graph.js").ConceptGraph} graph */
  constructor(graph) {
    this.graph = graph;
    this.cy = graph.cy;
    this.frame = graph.frame;
    this.elements = graph.elements;
    this.used = false; // is it the keyboard that is used?
    this.listen();
  }

  listen() {
    const { stage } = this.frame;
    stage.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !this.press(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
    });
    stage.addEventListener("focus", () => {
      if (!this.graph.pointer.pressing && stage.matches(":focus-visible")) this.use(true);
    });
    stage.addEventListener("blur", () => this.use(false));
  }

  use(used) {
    if (used === this.used) return;
    this.used = used;
    this.frame.setKeyboard(used);
    if (used && this.elements.nodes.size) this.focusNode(this.graph.focused ?? this.firstNode());
    else this.graph.emphasise();
    if (!used) this.frame.hideTooltip();
  }

  /** Act on a key; false where it means nothing here. */
  press(key) {
    if (key in DIRECTIONS) this.step(DIRECTIONS[key]);
    else if (key === "Enter" || key === " ") this.toggle();
    else if (key.toLowerCase() === "e") this.expandFocused();
    else if (key === "+" || key === "=") this.graph.view.zoomBy(ZOOM_STEP);
    else if (key === "-") this.graph.view.zoomBy(1 / ZOOM_STEP);
    else if (key === "0") this.graph.view.fitView();
    else if (key === "Escape") return this.clear();
    else return false;
    this.use(true);
    return true;
  }

  /** Where the keyboard starts: a selected node, else a highlighted one, else the largest. */
  firstNode() {
    const first = [":selected", ".highlighted", "node"].map((selector) => this.cy.nodes(selector)).find((n) => n.nonempty());
    return Elements.idOf(first.max((node) => node.data("raw").size).ele);
  }

  focusNode(id) {
    this.graph.focused = id;
    const node = this.elements.get(id);
    this.graph.view.reveal(node);
    this.graph.hovered = null;
    this.graph.emphasise();
    this.graph.showTooltip(node);
    this.announceFocused();
  }

  announceFocused() {
    const node = this.elements.get(this.graph.focused);
    this.frame.announce(
      announcement(node.data("raw"), node.selected(), node.openNeighborhood("node").not(node).length),
    );
  }

  step(direction) {
    if (!this.elements.nodes.size) return;
    if (this.graph.focused === null || !this.used) return void this.focusNode(this.graph.focused ?? this.firstNode());
    const points = this.cy.nodes().map((node) => ({ id: Elements.idOf(node), ...node.renderedPosition() }));
    const from = points.find(({ id }) => id === this.graph.focused);
    const next = nearestTowards(from, points, direction);
    if (next) this.focusNode(next.id);
  }

  toggle() {
    if (this.graph.focused === null) return;
    const node = this.elements.get(this.graph.focused);
    node[node.selected() ? "unselect" : "select"]();
    this.announceFocused();
  }

  expandFocused() {
    if (this.graph.focused !== null) this.graph.expand(this.graph.focused);
  }

  /** False where there is nothing to clear, so that Escape means what it means elsewhere. */
  clear() {
    const selected = this.cy.nodes(":selected");
    const shown = !this.frame.tooltip.hidden;
    this.frame.hideTooltip();
    selected.unselect();
    if (selected.nonempty()) this.frame.announce("Selection cleared.");
    return shown || selected.nonempty();
  }
}
