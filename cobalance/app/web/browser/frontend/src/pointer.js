/** What a mouse and fingers do with the graph. */

import { Elements } from "./elements.js";

const EDGE_REACH_PX = 4; // how near to an edge counts as on it
export const ZOOM_STEP = 1.3;

const isAdditive = ({ originalEvent: { shiftKey, ctrlKey, metaKey } }) => shiftKey || ctrlKey || metaKey;

export class Pointer {
  /** @param {import("./graph.js").ConceptGraph} graph */
  constructor(graph) {
    this.graph = graph;
    this.cy = graph.cy;
    this.frame = graph.frame;
    this.elements = graph.elements;
    this.pressing = false; // is the stage focused by a press just now?
    this.listen();
  }

  stop() {
    cancelAnimationFrame(this.zoomFrame);
    cancelAnimationFrame(this.panFrame);
  }

  listen() {
    const { stage, buttons } = this.frame;
    this.cy.on("select unselect", "node", () => this.graph.applying || this.graph.selectionChanged());
    this.cy.on("tap", "edge", (event) => this.tapEdge(event));
    this.cy.on("tap", (event) => (this.tapped = [this.tapped?.[1], event.target]));
    this.cy.on("tap", "node", (event) => (this.graph.focused = Elements.idOf(event.target)));
    this.cy.on("dbltap", "node", (event) => {
      // To Cytoscape, two quick clicks on different nodes are a double click on the second.
      const [first, second] = this.tapped;
      if (first === second && !isAdditive(event)) this.graph.expand(Elements.idOf(event.target));
    });
    this.cy.on("mousemove", (event) => this.graph.hover(this.pointedAt(event), event.renderedPosition));
    this.cy.on("dragpan pinchzoom boxstart", (event) =>
      event.type === "boxstart" ? this.graph.hover(null) : this.graph.view.viewChosen(),
    );
    this.cy.on("pan", () => {
      this.panFrame ??= requestAnimationFrame(() => {
        this.panFrame = undefined;
        if (this.graph.alive()) this.graph.view.drawBehind();
      });
    });
    this.cy.on("zoom", () => {
      this.zoomFrame ??= requestAnimationFrame(() => {
        this.zoomFrame = undefined;
        if (this.graph.alive()) this.graph.view.rescale();
      });
    });
    stage.addEventListener("mouseleave", () => this.graph.hover(null));
    for (const type of ["mousemove", "mousedown", "touchstart"])
      stage.addEventListener(type, () => this.followPage(), { capture: true, passive: true });
    // Cytoscape keeps the browser from focusing what is pressed.
    stage.addEventListener("mousedown", () => {
      this.pressing = true; // to the browser, Shift + click is use of the keyboard
      stage.focus({ preventScroll: true });
      this.pressing = false;
      this.graph.keys.use(false);
    });
    for (const type of ["touchstart", "touchmove"])
      stage.addEventListener(type, (event) => this.swipe(event), { capture: true, passive: true });
    // Caught before Cytoscape, which would zoom whenever the pointer is over it.
    stage.addEventListener("wheel", (event) => this.wheel(event), { capture: true, passive: false });
    buttons["Zoom in"].addEventListener("click", () => this.graph.view.zoomBy(ZOOM_STEP));
    buttons["Zoom out"].addEventListener("click", () => this.graph.view.zoomBy(1 / ZOOM_STEP));
    buttons["Show the whole graph"].addEventListener("click", () => this.graph.view.fitView());
  }

  /** Cytoscape remembers where it is in the window, and does not see the page around it grow. */
  followPage() {
    const { left, top } = this.frame.stage.getBoundingClientRect();
    if (left === this.place?.left && top === this.place?.top) return;
    this.place = { left, top };
    this.cy.resize();
  }

  /** One finger that moves up or down scrolls the page; Cytoscape would keep the page from it. */
  swipe(event) {
    const [{ clientX: x, clientY: y }] = event.touches;
    if (event.type === "touchstart") {
      this.touch = event.touches.length === 1 ? { x, y, scrolls: null } : null;
    } else if (this.touch) {
      if (this.touch.scrolls === null) {
        this.touch.scrolls = Math.abs(y - this.touch.y) > Math.abs(x - this.touch.x);
        // Else Cytoscape would take the end of it for a tap.
        if (this.touch.scrolls) event.target.dispatchEvent(new Event("touchcancel", { bubbles: true, composed: true }));
      }
      if (this.touch.scrolls) event.stopPropagation();
    }
  }

  wheel(event) {
    event.stopPropagation();
    if (!event.ctrlKey && !event.metaKey && !this.frame.stage.matches(":focus")) return; // the page scrolls
    event.preventDefault();
    const unit = [1, 16, 400][event.deltaMode] ?? 1;
    const delta = Math.max(-120, Math.min(120, event.deltaY * unit));
    const { left, top } = this.frame.stage.getBoundingClientRect();
    this.graph.view.zoomBy(1.0025 ** -delta, { x: event.clientX - left, y: event.clientY - top });
  }

  /** The node or edge under the pointer. Cytoscape takes an edge from afar, and we do not. */
  pointedAt(event) {
    const { target } = event;
    if (target === this.cy) return null;
    return target.isNode() || this.isOn(target, event.position) ? target : null;
  }

  isOn(edge, { x, y }) {
    const [from, to] = [edge.sourceEndpoint(), edge.targetEndpoint()];
    const bend = edge.controlPoints()?.[0] ?? edge.midpoint();
    const reach = Math.max(EDGE_REACH_PX / this.cy.zoom(), edge.data("w") / 2);
    for (let share = 0; share <= 1; share += 1 / 64) {
      const [a, b, c] = [(1 - share) ** 2, 2 * share * (1 - share), share ** 2];
      const distance = Math.hypot(a * from.x + b * bend.x + c * to.x - x, a * from.y + b * bend.y + c * to.y - y);
      if (distance <= reach + Math.hypot(to.x - from.x, to.y - from.y) / 128) return true;
    }
    return false;
  }

  /** An edge stands for the pair of concepts at its ends: both are selected. */
  tapEdge(event) {
    const additive = isAdditive(event);
    const pair = this.isOn(event.target, event.position) ? event.target.connectedNodes() : this.cy.collection();
    const selected = this.cy.nodes(":selected");
    if (!additive) selected.not(pair).unselect();
    if (additive && pair.nonempty() && pair.same(pair.filter(":selected"))) pair.unselect();
    else pair.select();
  }
}
