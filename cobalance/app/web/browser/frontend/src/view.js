/** Where the elements are on the screen, and how large: positions, sizes, labels, zoom. */

import { AXIS_PX, axisScale } from "./axis.js";
import { MIN_NODE_PX, drawAxis, drawHulls } from "./behind.js";
import { Elements } from "./elements.js";
import { STRIP_PX } from "./frame.js";
import { fitAxis, placeLabels } from "./placement.js";
import { wantsNoMotion } from "./story.js";
import { shorten } from "./text.js";

const FONT_PX = 12;
const CLASS_FONT_PX = 13;
const MARGIN_PX = 14;
const MAX_STRETCH = 4; // how far a small picture is pulled apart to fill the room
const GLIDE_MS = 400;
const MOST_FORCED_LABELS = 40;

export class View {
  /** @param {import("./graph.js").ConceptGraph} graph */
  constructor(graph) {
    this.graph = graph;
    this.cy = graph.cy;
    this.frame = graph.frame;
    this.elements = graph.elements;
    this.moved = false; // has a person panned or zoomed?
    this.mapping = null; // from Python's positions to pixels of the stage
  }

  /** Fit the picture to the room, unless a person has chosen what to look at. */
  layOut() {
    const { width, height } = this.frame.size();
    if (!width || !height) return;
    this.cy.nodes().stop(true);
    this.cy.resize();
    if (!this.elements.nodes.size) return;
    if (!this.moved || !this.mapping) {
      this.mapping = this.fit(width, height);
      this.cy.viewport({ zoom: 1, pan: { x: 0, y: 0 } });
    }
    this.place();
    this.frame.root.dataset.ready = "true";
  }

  positions() {
    return new Map(this.cy.nodes().map((node) => [node.id(), { ...node.position() }]));
  }

  /** Let the nodes move from where they were to where they are, unless motion is unwanted. */
  glide(before) {
    if (wantsNoMotion()) return;
    this.cy.nodes().forEach((node) => {
      const [from, to] = [before.get(node.id()), { ...node.position() }];
      if (!from || Math.hypot(to.x - from.x, to.y - from.y) < 1) return;
      node.position(from);
      node.animate({ position: to }, { duration: GLIDE_MS, easing: "ease-in-out", complete: () => this.graph.alive() && drawHulls(this.graph) });
    });
  }

  /** Put the elements where they stand now, in the room that was fitted. */
  place() {
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
  }

  /** The two axes' scales, what they leave of the nodes' sizes, and the classes at the ends. */
  fit(width, height) {
    const nodes = [...this.elements.nodes.values()];
    const { axis } = this.graph.host.data;
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

  /** What is drawn behind the elements follows the view. */
  drawBehind() {
    drawAxis(this.graph);
    drawHulls(this.graph);
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
    const { width, height } = this.nodeSize({ ...raw, size: raw.room ?? raw.size }, shrink);
    const label = raw.kind === "class" ? 0 : this.graph.ruler.width(shorten(raw.label), FONT_PX);
    return {
      beside: Math.max(width / 2, Math.min(label / 2, 48)) + 2,
      above: Math.max(height, label ? FONT_PX * 1.2 : 0) / 2 + 2, // a label may be beside it
      below: height / 2 + (label ? FONT_PX + 8 : 2),
    };
  }

  /** Size of a node on the screen at zoom 1. */
  nodeSize(raw, shrink) {
    if (raw.kind !== "class") {
      const side = Math.max(MIN_NODE_PX, raw.size * shrink);
      return { width: side, height: side };
    }
    const label = this.graph.ruler.width(shorten(raw.label), CLASS_FONT_PX, true);
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
    if (this.graph.story.moving) return drawHulls(this.graph); // labels stay on their sides, or they would flicker
    this.label();
    this.drawBehind();
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
      (Elements.idOf(node) === this.graph.focused ? 4 : 0) + (node.selected() ? 2 : 0) + (node.hasClass("highlighted") ? 1 : 0);
    const ordered = concepts.toArray().sort((a, b) => rank(b) - rank(a) || b.data("w") - a.data("w"));
    const discs = ordered.map((node) => ({
      x: node.position("x") * zoom,
      y: node.position("y") * zoom,
      radius: (node.data("w") * zoom) / 2,
      width: this.graph.ruler.width(node.data("text"), node.data("font") * zoom, node.selected()) + 4,
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
    const { axis } = this.graph.host.data;
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

  /** Zoom about a point of the stage, by default its middle. */
  zoomBy(factor, about) {
    const { width, height } = this.frame.size();
    this.cy.zoom({ level: this.cy.zoom() * factor, renderedPosition: about ?? { x: width / 2, y: height / 2 } });
    this.viewChosen();
  }

  viewChosen() {
    this.moved = true;
    this.graph.hover(null);
  }

  fitView() {
    this.moved = false;
    this.graph.hover(null);
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
}
