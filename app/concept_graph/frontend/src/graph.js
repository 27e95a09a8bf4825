/** The graph in its frame: what is drawn, what a person does with it, and what Python hears. */

import cytoscape from "cytoscape";

import { AXIS_PX, axisScale } from "./axis.js";
import { Elements } from "./elements.js";
import { Frame, STRIP_PX } from "./frame.js";
import { fitAxis, nearestTowards, placeLabels } from "./placement.js";
import { announcement, shorten, summary } from "./text.js";
import { Ruler, Theme } from "./theme.js";

const FONT_PX = 12;
const CLASS_FONT_PX = 13;
const MARGIN_PX = 14;
const MIN_NODE_PX = 9; // what a mouse still hits
const MAX_STRETCH = 4; // how far a small picture is pulled apart to fill the room
const ZOOM_STEP = 1.3;
const PUSH_DELAY_MS = 250; // one report for a double click or a run of keys
const DOUBLE_CLICK_MS = 400;
const EDGE_REACH_PX = 4; // how near to an edge counts as on it
const MOST_FORCED_LABELS = 40;
const MOST_NEIGHBOURS_NAMED = 20;

const DIRECTIONS = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

const isAdditive = ({ originalEvent: { shiftKey, ctrlKey, metaKey } }) => shiftKey || ctrlKey || metaKey;

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
    this.moved = false; // has a person panned or zoomed?
    this.mapping = null; // from Python's positions to pixels of the stage
    this.request = null; // the newest of Python's selections that has been taken over
    this.wanted = new Set(); // what is selected, nodes that the picture lacks just now included
    this.reported = ""; // the selection as Python knows it
    this.hovered = null; // the node or edge under the pointer
    this.focused = null; // our id of the node that the keyboard is on
    this.keyboard = false; // is it the keyboard that is used?
    this.listenToPointer();
    this.listenToKeyboard();
    this.resizes = new ResizeObserver(() => requestAnimationFrame(() => this.alive() && this.layOut()));
    this.resizes.observe(this.frame.stage);
    this.frame.root.cobalanceGraph = this.testingInterface();
  }

  /**
   * What browser tests use, as `cobalanceGraph` on the element with the class `concept-graph`.
   * Positions are in CSS pixels of the window, as a mouse is moved to them.
   */
  testingInterface() {
    const inWindow = ({ x, y }) => {
      const { left, top } = this.frame.stage.getBoundingClientRect();
      return { x: x + left, y: y + top };
    };
    const ids = (nodes) => nodes.map((node) => Elements.idOf(node));
    return {
      /** {id: {x, y}} of every node. */
      renderedPositions: () =>
        Object.fromEntries(this.cy.nodes().map((node) => [Elements.idOf(node), inWindow(node.renderedPosition())])),
      /** [{source, target, x, y, ghost}]: a point on every edge. */
      renderedEdges: () =>
        this.cy.edges().map((edge) => ({
          source: edge.data("raw").source,
          target: edge.data("raw").target,
          ghost: edge.hasClass("ghost"),
          ...inWindow(edge.renderedMidpoint()),
        })),
      selected: () => ids(this.cy.nodes(":selected")),
      highlighted: () => ids(this.cy.nodes(".highlighted")),
      dimmed: () => ids(this.cy.nodes(".dim")),
      /** Ids of the nodes whose label is drawn. */
      labelled: () => ids(this.cy.nodes().not(".unlabelled")),
      focused: () => this.focused,
      zoom: () => this.cy.zoom(),
      pan: () => ({ ...this.cy.pan() }),
      /** {skew: x} of the lines of the axis; empty without one. */
      axis: () =>
        Object.fromEntries(
          [...this.frame.axis.svg.querySelectorAll("line")].map((line) => [
            line.dataset.skew,
            line.getBoundingClientRect().x,
          ]),
        ),
      /** Whether the picture fits itself to the room, as it does until somebody pans or zooms. */
      fitted: () => Boolean(this.mapping) && !this.moved,
      /** The same as long as the graph was updated and not made anew. */
      identity: this,
    };
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
    cancelAnimationFrame(this.zoomFrame);
    cancelAnimationFrame(this.panFrame);
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
    const { changed, related } = this.elements.draw(data);
    if (changed && !related) this.moved = false;
    if (changed) this.hover(null);
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
      this.layOut();
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
    this.layOut();
  }

  applySelection() {
    this.applying = true;
    this.cy.nodes().forEach((node) => {
      const selected = this.wanted.has(Elements.idOf(node));
      if (selected !== node.selected()) node[selected ? "select" : "unselect"]();
    });
    this.applying = false;
    this.markBetween();
  }

  /** Texts and colours of the elements. */
  paint() {
    this.cy.batch(() => {
      this.cy.nodes().forEach((node) => {
        const { label, kind, skew } = node.data("raw");
        const fill = kind === "class" ? this.theme.classFill(skew) : this.theme.lean(skew);
        node.data({ text: shorten(label), fill });
      });
      this.cy.edges().forEach((edge) => edge.data({ fill: this.theme.lean(edge.data("raw").skew) }));
    });
  }

  // ---- Sizes and positions -----------------------------------------------------------------

  /** Fit the picture to the room, unless a person has chosen what to look at. */
  layOut() {
    const { width, height } = this.frame.size();
    if (!width || !height) return;
    this.cy.resize();
    if (!this.elements.nodes.size) return;
    if (!this.moved || !this.mapping) {
      this.mapping = this.fit(width, height);
      this.cy.viewport({ zoom: 1, pan: { x: 0, y: 0 } });
    }
    const { x, y, docked, bottom } = this.mapping;
    this.cy.batch(() => {
      this.cy.nodes().forEach((node) => {
        const raw = node.data("raw");
        node.position({
          x: docked.get(raw.id) ?? raw.x * x.scale + x.offset,
          y: docked.has(raw.id) && bottom !== null ? bottom : raw.y * y.scale + y.offset,
        });
      });
      this.bendEdges();
    });
    this.rescale();
    this.frame.root.dataset.ready = "true";
  }

  /** The two axes' scales, what they leave of the nodes' sizes, and the classes at the ends. */
  fit(width, height) {
    const nodes = [...this.elements.nodes.values()];
    const { axis } = this.host.data;
    if (axis) return this.fitToAxis(nodes, axis, width, height);
    const { inner, docked, start, end } = this.dock(nodes, MARGIN_PX, width - MARGIN_PX);
    let shrink = 1;
    let axes;
    for (let round = 0; round < 3; round += 1) {
      const items = (raws, axis, before, after) =>
        raws.map((raw) => {
          const reach = this.extent(raw, shrink);
          return { at: raw[axis], before: reach[before], after: reach[after] };
        });
      axes = {
        x: fitAxis(items(inner, "x", "beside", "beside"), start, end, MAX_STRETCH),
        y: fitAxis(items(nodes, "y", "above", "below"), STRIP_PX, height - MARGIN_PX, MAX_STRETCH),
      };
      // Where Python's positions had to come closer, the discs get smaller, and never tiny.
      shrink = Math.max(0.55, Math.min(1, Math.sqrt(axes.x.scale * axes.y.scale)));
    }
    return { ...axes, shrink, docked, bottom: null };
  }

  /** The same places for a skew whatever is drawn: only the room above and below is fitted. */
  fitToAxis(nodes, axis, width, height) {
    const classes = nodes.filter(({ kind }) => kind === "class");
    const concepts = nodes.filter(({ kind }) => kind !== "class");
    const middle = (axis[0] + axis[1]) / 2;
    const docked = new Map(
      classes.map((raw) => {
        const half = this.nodeSize(raw, 1).width / 2;
        return [raw.id, raw.x < middle ? MARGIN_PX + half : width - MARGIN_PX - half];
      }),
    );
    const x = axisScale(axis, width);
    let shrink = 1;
    let y;
    for (let round = 0; round < 3; round += 1) {
      const items = concepts.map((raw) => {
        const { above, below } = this.extent(raw, shrink);
        return { at: raw.y, before: above, after: below };
      });
      y = fitAxis(items, STRIP_PX, height - AXIS_PX, MAX_STRETCH);
      shrink = Math.max(0.35, Math.min(1, x.scale, y.scale || 1));
    }
    return { x, y, shrink, docked, bottom: height - AXIS_PX / 2 };
  }

  /** The axis and the key of sizes follow the view. */
  drawAxis() {
    const { axis, sizes } = this.host.data;
    if (!axis || !this.mapping || !this.elements.nodes.size) return this.frame.axis.hide();
    const { x, shrink } = this.mapping;
    const zoom = this.cy.zoom();
    const { width, height } = this.frame.size();
    const middle = (axis[0] + axis[1]) / 2;
    const half = (axis[1] - axis[0]) / 2;
    const taken = this.cy.nodes(".class").map((node) => {
      const { x1, x2 } = node.renderedBoundingBox({ includeLabels: false });
      return { left: x1, right: x2 };
    });
    this.frame.axis.draw({
      x: (skew) => ((middle + skew * half) * x.scale + x.offset) * zoom + this.cy.pan().x,
      width,
      height,
      top: STRIP_PX,
      taken,
      ruler: this.ruler,
      sizes: sizes.map(([size, text]) => [Math.max(MIN_NODE_PX, size * shrink) * zoom ** 0.55, text]),
    });
  }

  /**
   * Classes beyond all concepts stand at the edge, and the concepts get the room between: a name
   * in a rectangle is as wide in a narrow column as in a wide one.
   */
  dock(nodes, start, end) {
    const concepts = nodes.filter(({ kind }) => kind !== "class").map(({ x }) => x);
    const classes = concepts.length ? nodes.filter(({ kind }) => kind === "class") : [];
    const widths = (raws) => Math.max(0, ...raws.map((raw) => this.nodeSize(raw, 1).width + MARGIN_PX));
    const lefts = classes.filter(({ x }) => x < Math.min(...concepts));
    const rights = classes.filter(({ x }) => x > Math.max(...concepts));
    const docked = new Map([
      ...lefts.map((raw) => [raw.id, start + this.nodeSize(raw, 1).width / 2]),
      ...rights.map((raw) => [raw.id, end - this.nodeSize(raw, 1).width / 2]),
    ]);
    const inner = nodes.filter(({ id }) => !docked.has(id));
    return { inner, docked, start: start + widths(lefts), end: end - widths(rights) };
  }

  extent(raw, shrink) {
    const { width, height } = this.nodeSize(raw, shrink);
    const label = raw.kind === "class" ? 0 : this.ruler.width(shorten(raw.label), FONT_PX);
    return {
      beside: Math.max(width / 2, Math.min(label / 2, 48)) + 2,
      above: height / 2 + 2,
      below: height / 2 + (label ? FONT_PX + 8 : 2),
    };
  }

  /** Size of a node on the screen at zoom 1. */
  nodeSize(raw, shrink) {
    if (raw.kind !== "class") {
      const side = Math.max(MIN_NODE_PX, raw.size * shrink);
      return { width: side, height: side };
    }
    const label = this.ruler.width(shorten(raw.label), CLASS_FONT_PX, true);
    return { width: label + 22, height: Math.max(30, Math.min(raw.size, 44)) };
  }

  /** Arcs away from the middle line, so that edges along it do not cover each other. */
  bendEdges() {
    const middle = this.frame.size().height / 2;
    this.cy.edges().forEach((edge) => {
      const [from, to] = [edge.source().position(), edge.target().position()];
      const length = Math.hypot(to.x - from.x, to.y - from.y);
      const upwards = (from.y + to.y) / 2 <= middle;
      // Cytoscape bends to the left of the way from source to target.
      const side = upwards === to.x >= from.x ? -1 : 1;
      edge.data("arc", side * (Math.min(70, length * 0.14) + 12 * edge.data("repeat")));
    });
  }

  /**
   * Sizes at the present zoom. Discs, lines and letters grow more slowly than distances, so that
   * zooming in makes room for labels.
   */
  rescale() {
    if (!this.mapping) return;
    const zoom = this.cy.zoom();
    const [discs, lines, letters] = [zoom ** -0.45, zoom ** -0.6, zoom ** -0.85];
    this.cy.batch(() => {
      this.cy.nodes().forEach((node) => {
        const raw = node.data("raw");
        const { width, height } = this.nodeSize(raw, this.mapping.shrink);
        const [factor, font] = raw.kind === "class" ? [letters, CLASS_FONT_PX] : [discs, FONT_PX];
        node.data({
          w: width * factor,
          h: height * factor,
          font: font * letters,
          halo: 2 * letters,
          rim: lines,
          ring: 3 * lines,
        });
      });
      this.cy.edges().forEach((edge) => {
        const { width } = edge.data("raw");
        edge.data("w", (edge.is(".clique, .between") ? Math.max(2.5, width) : width) * lines);
      });
    });
    this.label();
    this.drawAxis();
  }

  /** Draw as many labels as find room, the important ones first. */
  label() {
    const zoom = this.cy.zoom();
    const { width, height } = this.frame.size();
    const classes = this.cy.nodes(".class");
    const concepts = this.cy.nodes().not(classes);
    const shown = this.cy.nodes(":selected, .highlighted, .focused");
    const forced = shown.length <= MOST_FORCED_LABELS;
    const rank = (node) =>
      (Elements.idOf(node) === this.focused ? 4 : 0) + (node.selected() ? 2 : 0) + (node.hasClass("highlighted") ? 1 : 0);
    const ordered = concepts.toArray().sort((a, b) => rank(b) - rank(a) || b.data("w") - a.data("w"));
    const discs = ordered.map((node) => ({
      x: node.position("x") * zoom,
      y: node.position("y") * zoom,
      radius: (node.data("w") * zoom) / 2,
      width: this.ruler.width(node.data("text"), node.data("font") * zoom, node.selected()) + 4,
      height: node.data("font") * zoom * 1.15,
      always: forced && rank(node) > 0,
    }));
    const taken = classes.map((node) => {
      const { x, y } = node.position();
      const [besides, above] = [node.data("w") / 2, node.data("h") / 2];
      return {
        left: (x - besides) * zoom,
        right: (x + besides) * zoom,
        top: (y - above) * zoom,
        bottom: (y + above) * zoom,
      };
    });
    const { axis } = this.host.data;
    const bottom = height - (axis ? AXIS_PX : 2);
    const bounds = this.moved ? null : { left: 4, top: axis ? STRIP_PX : 4, right: width - 4, bottom };
    if (bounds) taken.push({ left: width - 112, top: 0, right: width, bottom: STRIP_PX });
    const sides = placeLabels(discs, taken, bounds, 3);
    this.cy.batch(() =>
      ordered.forEach((node, i) => {
        node.toggleClass("unlabelled", sides[i] === null);
        for (const side of ["top", "right", "left"]) node.toggleClass(side, sides[i] === side);
      }),
    );
  }

  // ---- Looking -----------------------------------------------------------------------------

  /** Zoom about a point of the stage, by default its middle. */
  zoomBy(factor, about) {
    const { width, height } = this.frame.size();
    this.cy.zoom({ level: this.cy.zoom() * factor, renderedPosition: about ?? { x: width / 2, y: height / 2 } });
    this.viewChosen();
  }

  viewChosen() {
    this.moved = true;
    this.hover(null);
  }

  fitView() {
    this.moved = false;
    this.hover(null);
    this.layOut();
  }

  /** Bring a node into view, if it is not. */
  reveal(node) {
    const { width, height } = this.frame.size();
    const { x, y } = node.renderedPosition();
    const shift = {
      x: Math.max(60 - x, 0) + Math.min(width - 60 - x, 0),
      y: Math.max(STRIP_PX - y, 0) + Math.min(height - 40 - y, 0),
    };
    if (this.moved && (shift.x || shift.y)) this.cy.panBy(shift);
  }

  /** Dim what is neither highlighted nor a neighbour of what is pointed at. */
  emphasise() {
    const marked = this.cy.elements(".highlighted, .clique");
    const pointed = this.hovered ?? (this.keyboard && this.focused !== null ? this.elements.get(this.focused) : null);
    const near = !pointed?.nonempty()
      ? this.cy.collection()
      : pointed.isNode()
        ? pointed.closedNeighborhood()
        : pointed.union(pointed.connectedNodes());
    this.cy.batch(() => {
      this.cy.elements().removeClass("dim away near named focused");
      if (marked.nonempty()) this.cy.elements().not(marked).not(near).addClass("dim");
      else if (near.nonempty()) this.cy.elements().not(near).addClass("away");
      near.addClass("near");
      if (near.nodes().length <= MOST_NEIGHBOURS_NAMED) near.nodes().addClass("named");
      else pointed.addClass("named");
      if (this.keyboard && this.focused !== null) this.elements.get(this.focused).addClass("focused");
    });
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

  // ---- Pointer -----------------------------------------------------------------------------

  listenToPointer() {
    const { stage, buttons } = this.frame;
    this.cy.on("select unselect", "node", () => this.applying || this.selectionChanged());
    this.cy.on("tap", "edge", (event) => this.tapEdge(event));
    this.cy.on("tap", (event) => (this.tapped = [this.tapped?.[1], event.target]));
    this.cy.on("tap", "node", (event) => (this.focused = Elements.idOf(event.target)));
    this.cy.on("dbltap", "node", (event) => {
      // To Cytoscape, two quick clicks on different nodes are a double click on the second.
      const [first, second] = this.tapped;
      if (first === second && !isAdditive(event)) this.expand(Elements.idOf(event.target));
    });
    this.cy.on("mousemove", (event) => this.hover(this.pointedAt(event), event.renderedPosition));
    this.cy.on("dragpan pinchzoom boxstart", (event) =>
      event.type === "boxstart" ? this.hover(null) : this.viewChosen(),
    );
    this.cy.on("pan", () => {
      this.panFrame ??= requestAnimationFrame(() => {
        this.panFrame = undefined;
        if (this.alive()) this.drawAxis();
      });
    });
    this.cy.on("zoom", () => {
      this.zoomFrame ??= requestAnimationFrame(() => {
        this.zoomFrame = undefined;
        if (this.alive()) this.rescale();
      });
    });
    stage.addEventListener("mouseleave", () => this.hover(null));
    for (const type of ["mousemove", "mousedown", "touchstart"])
      stage.addEventListener(type, () => this.followPage(), { capture: true, passive: true });
    // Cytoscape keeps the browser from focusing what is pressed.
    stage.addEventListener("mousedown", () => {
      this.pressing = true; // to the browser, Shift + click is use of the keyboard
      stage.focus({ preventScroll: true });
      this.pressing = false;
      this.useKeyboard(false);
    });
    for (const type of ["touchstart", "touchmove"])
      stage.addEventListener(type, (event) => this.swipe(event), { capture: true, passive: true });
    // Caught before Cytoscape, which would zoom whenever the pointer is over it.
    stage.addEventListener("wheel", (event) => this.wheel(event), { capture: true, passive: false });
    buttons["Zoom in"].addEventListener("click", () => this.zoomBy(ZOOM_STEP));
    buttons["Zoom out"].addEventListener("click", () => this.zoomBy(1 / ZOOM_STEP));
    buttons["Show the whole graph"].addEventListener("click", () => this.fitView());
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
    this.zoomBy(1.0025 ** -delta, { x: event.clientX - left, y: event.clientY - top });
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

  /** An edge stands for the pair of concepts at its ends: both are selected. */
  tapEdge(event) {
    const additive = isAdditive(event);
    const pair = this.isOn(event.target, event.position) ? event.target.connectedNodes() : this.cy.collection();
    const selected = this.cy.nodes(":selected");
    if (!additive) selected.not(pair).unselect();
    if (additive && pair.nonempty() && pair.same(pair.filter(":selected"))) pair.unselect();
    else pair.select();
  }

  // ---- Keyboard ----------------------------------------------------------------------------

  listenToKeyboard() {
    const { stage } = this.frame;
    stage.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !this.press(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
    });
    stage.addEventListener("focus", () => {
      if (!this.pressing && stage.matches(":focus-visible")) this.useKeyboard(true);
    });
    stage.addEventListener("blur", () => this.useKeyboard(false));
  }

  useKeyboard(used) {
    if (used === this.keyboard) return;
    this.keyboard = used;
    this.frame.setKeyboard(used);
    if (used && this.elements.nodes.size) this.focusNode(this.focused ?? this.firstNode());
    else this.emphasise();
    if (!used) this.frame.hideTooltip();
  }

  /** Act on a key; false where it means nothing here. */
  press(key) {
    if (key in DIRECTIONS) this.step(DIRECTIONS[key]);
    else if (key === "Enter" || key === " ") this.toggle();
    else if (key.toLowerCase() === "e") this.expandFocused();
    else if (key === "+" || key === "=") this.zoomBy(ZOOM_STEP);
    else if (key === "-") this.zoomBy(1 / ZOOM_STEP);
    else if (key === "0") this.fitView();
    else if (key === "Escape") return this.clear();
    else return false;
    this.useKeyboard(true);
    return true;
  }

  /** Where the keyboard starts: a selected node, else a highlighted one, else the largest. */
  firstNode() {
    const first = [":selected", ".highlighted", "node"].map((selector) => this.cy.nodes(selector)).find((n) => n.nonempty());
    return Elements.idOf(first.max((node) => node.data("raw").size).ele);
  }

  focusNode(id) {
    this.focused = id;
    const node = this.elements.get(id);
    this.reveal(node);
    this.hovered = null;
    this.emphasise();
    this.showTooltip(node);
    this.announceFocused();
  }

  announceFocused() {
    const node = this.elements.get(this.focused);
    this.frame.announce(
      announcement(node.data("raw"), node.selected(), node.openNeighborhood("node").not(node).length),
    );
  }

  step(direction) {
    if (!this.elements.nodes.size) return;
    if (this.focused === null || !this.keyboard) return void this.focusNode(this.focused ?? this.firstNode());
    const points = this.cy.nodes().map((node) => ({ id: Elements.idOf(node), ...node.renderedPosition() }));
    const from = points.find(({ id }) => id === this.focused);
    const next = nearestTowards(from, points, direction);
    if (next) this.focusNode(next.id);
  }

  toggle() {
    if (this.focused === null) return;
    const node = this.elements.get(this.focused);
    node[node.selected() ? "unselect" : "select"]();
    this.announceFocused();
  }

  expandFocused() {
    if (this.focused !== null) this.expand(this.focused);
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

  // ---- To Python ---------------------------------------------------------------------------

  selectionChanged() {
    this.wanted = new Set(this.cy.nodes(":selected").map((node) => Elements.idOf(node)));
    clearTimeout(this.pushTimer);
    this.pushTimer = setTimeout(() => this.push(), PUSH_DELAY_MS);
    this.settling ??= requestAnimationFrame(() => {
      this.settling = undefined;
      if (!this.alive()) return;
      this.markBetween();
      this.rescale();
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
