/** The graph in its frame: what is drawn, what a person does with it, and what Python hears. */

import cytoscape from "cytoscape";

import { drawHulls } from "./behind.js";
import { Elements } from "./elements.js";
import { Frame } from "./frame.js";
import { Keyboard } from "./keyboard.js";
import { Pointer } from "./pointer.js";
import { Story } from "./story.js";
import { testingInterface } from "./testing.js";
import { shorten, summary } from "./text.js";
import { Ruler, Theme } from "./theme.js";
import { View } from "./view.js";

const FONT_PX = 12;
const PUSH_DELAY_MS = 250; // one report for a double click or a run of keys
const DOUBLE_CLICK_MS = 400;
const MOST_NEIGHBOURS_NAMED = 20;

cytoscape.warnings(false); // it warns of edges between nodes that lie on each other

export class ConceptGraph {
  /** @param {ParentNode & Node} parent */
  constructor(parent) {
    this.frame = new Frame(parent);
    this.cy = cytoscape({
      container: this.frame.canvas,
      layout: { name: "preset" },
      style: [],
      minZoom: 0.25,
      maxZoom: 10,
      boxSelectionEnabled: true,
      selectionType: "single",
      autoungrabify: true,
      multiClickDebounceTime: DOUBLE_CLICK_MS,
      // Cytoscape draws letters by way of images, which blur on a screen of single density.
      pixelRatio: Math.max(2, window.devicePixelRatio),
    });
    this.elements = new Elements(this.cy);
    this.request = null; // the newest of Python's selections that has been taken over
    this.wanted = new Set(); // what is selected, nodes that the picture lacks just now included
    this.reported = ""; // the selection as Python knows it
    this.hovered = null; // the node or edge under the pointer
    this.focused = null; // our id of the node that the keyboard is on
    this.view = new View(this);
    this.pointer = new Pointer(this);
    this.keys = new Keyboard(this);
    this.story = new Story(this);
    this.resizes = new ResizeObserver(() => requestAnimationFrame(() => this.alive() && this.view.layOut()));
    this.resizes.observe(this.frame.stage);
    this.frame.root.cobalanceGraph = testingInterface(this);
  }

  alive() {
    return !this.cy.destroyed();
  }

  isAttached() {
    return this.alive() && this.frame.root.isConnected;
  }

  destroy() {
    if (!this.alive()) return;
    clearTimeout(this.pushTimer);
    this.pointer.stop();
    this.story.stop();
    this.resizes.disconnect();
    this.cy.destroy();
    this.frame.remove();
  }

  // ---- From Python -------------------------------------------------------------------------

  /** Take over what Python sends. */
  update(host) {
    this.host = host;
    const { data } = host;
    this.frame.setShape(data.label, data.height_px);
    const themed = this.dress(data);
    const before = this.view.positions();
    const { changed, related } = this.elements.draw(data);
    if (changed && !related) this.view.moved = false;
    if (changed) this.hover(null);
    this.story.update(data, changed);
    if (this.request !== data.request) {
      this.request = data.request;
      this.wanted = new Set(data.selected);
      this.reported = JSON.stringify(data.selected.filter((id) => this.elements.nodes.has(id)));
      this.applySelection();
    } else if (changed) {
      this.applySelection();
    }
    const marked = this.elements.mark(data.highlighted);
    if (this.focused !== null && !this.elements.nodes.has(this.focused)) this.focused = null;
    this.frame.empty.hidden = this.elements.nodes.size > 0;
    if (themed || changed || marked) {
      this.paint();
      this.view.layOut();
      if (changed && related) this.view.glide(before);
      this.emphasise();
    }
    this.describe();
  }

  /** Follow the theme; true where it differs from before. */
  dress({ left_color, right_color }) {
    const theme = new Theme(this.frame.root, left_color, right_color);
    if (theme.signature === this.theme?.signature) return false;
    if (theme.font !== this.theme?.font) {
      this.ruler = new Ruler(theme.font);
      this.remeasureWhenLoaded(theme.font);
    }
    this.theme = theme;
    this.cy.style(theme.styleSheet());
    return true;
  }

  /** Labels are measured and drawn again once the page's font is there. */
  async remeasureWhenLoaded(font) {
    const wanted = ["", "bold "].map((weight) => `${weight}${FONT_PX}px ${font}`);
    if (wanted.every((name) => document.fonts.check(name))) return;
    await Promise.allSettled(wanted.map((name) => document.fonts.load(name)));
    if (!this.alive() || this.theme.font !== font) return;
    this.ruler = new Ruler(font);
    this.cy.style(this.theme.styleSheet());
    this.view.layOut();
  }

  applySelection() {
    this.applying = true;
    this.cy.nodes().forEach((node) => {
      const selected = this.wanted.has(Elements.idOf(node));
      if (selected !== node.selected()) node[selected ? "select" : "unselect"]();
    });
    this.applying = false;
    this.markBetween();
    this.emphasise();
  }

  /** Texts and colours of the elements. */
  paint() {
    this.cy.batch(() => {
      this.cy.nodes().forEach((node) => {
        const { label, kind, skew, color } = node.data("raw");
        const fill = kind === "class" ? this.theme.classFill(skew, color) : this.theme.lean(skew, color);
        node.data({ text: shorten(label), fill });
      });
      this.cy.edges().forEach((edge) => {
        const { skew, color } = edge.data("raw");
        edge.data({ fill: this.theme.lean(skew, color) });
      });
    });
  }

  /** Dim what is neither highlighted nor a neighbour of what is pointed at, and links of neither. */
  emphasise() {
    const marked = this.cy.elements(".highlighted, .clique");
    const pointed = this.pointed();
    const selected = this.cy.nodes(":selected");
    const near = !pointed?.nonempty()
      ? this.cy.collection()
      : pointed.isNode()
        ? pointed.closedNeighborhood()
        : pointed.union(pointed.connectedNodes());
    this.cy.batch(() => {
      this.cy.elements().removeClass("dim away near named focused");
      if (marked.nonempty()) this.cy.elements().not(marked).not(near).addClass("dim");
      else if (near.nonempty()) this.cy.elements().not(near).addClass("away");
      else if (selected.nonempty()) this.cy.edges().not(selected.connectedEdges()).addClass("away");
      near.addClass("near");
      if (near.nodes().length <= MOST_NEIGHBOURS_NAMED) near.nodes().addClass("named");
      else pointed.addClass("named");
      if (this.keys.used && this.focused !== null) this.elements.get(this.focused).addClass("focused");
    });
    if (this.view.mapping) drawHulls(this);
  }

  /** The node or edge under the pointer, else the node that the keyboard is on. */
  pointed() {
    return this.hovered ?? (this.keys.used && this.focused !== null ? this.elements.get(this.focused) : null);
  }

  /** Edges between two selected nodes stand out. */
  markBetween() {
    this.cy.batch(() =>
      this.cy
        .edges()
        .forEach((edge) => edge.toggleClass("between", edge.isSimple() && edge.source().selected() && edge.target().selected())),
    );
  }

  describe() {
    const nodes = [...this.elements.nodes.values()];
    const raws = (selector) => this.cy.nodes(selector).map((node) => node.data("raw"));
    this.frame.summary.textContent = summary(nodes, this.elements.edges, raws(".highlighted"), raws(":selected"));
  }

  hover(element, at) {
    const same = element === this.hovered || (element && this.hovered && element.same(this.hovered));
    if (!same) {
      this.hovered = element;
      this.frame.stage.classList.toggle("over-node", Boolean(element));
      this.emphasise();
    }
    if (element?.isNode()) {
      if (!same) this.showTooltip(element);
    } else if (element) this.showTooltip(element, at);
    else if (!same) this.frame.hideTooltip();
  }

  showTooltip(element, at) {
    const raw = element.data("raw");
    const name = (id) => this.elements.nodes.get(id).label;
    if (element.isNode())
      this.frame.showTooltip([raw.label], raw.description, {
        ...element.renderedPosition(),
        radius: element.renderedHeight() / 2,
      });
    else this.frame.showTooltip([name(raw.source), name(raw.target)], raw.description, { ...at, radius: 4 });
  }

  // ---- To Python ---------------------------------------------------------------------------

  selectionChanged() {
    this.wanted = new Set(this.cy.nodes(":selected").map((node) => Elements.idOf(node)));
    clearTimeout(this.pushTimer);
    this.pushTimer = setTimeout(() => this.push(), PUSH_DELAY_MS);
    this.settling ??= requestAnimationFrame(() => {
      this.settling = undefined;
      if (!this.alive()) return;
      this.markBetween();
      this.emphasise();
      this.view.rescale();
      this.describe();
    });
  }

  /** Report the selection, unless Python knows it. */
  push() {
    clearTimeout(this.pushTimer);
    const nodes = [...this.elements.nodes.keys()].filter((id) => this.wanted.has(id));
    const report = JSON.stringify(nodes);
    if (report === this.reported) return;
    this.reported = report;
    this.host.setStateValue("selected", { nodes, request: this.request });
  }

  expand(id) {
    this.push();
    this.host.setTriggerValue("expanded", id);
  }
}
