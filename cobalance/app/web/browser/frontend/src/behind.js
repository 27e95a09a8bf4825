/** What is drawn behind the elements: the axis with the key of sizes, and outlines. */

import { Elements } from "./elements.js";
import { STRIP_PX } from "./frame.js";
import { cliquesOf } from "./hulls.js";

export const MIN_NODE_PX = 9; // what a mouse still hits

/** The axis and the key of sizes. */
export function drawAxis(graph) {
  const { axis, sizes } = graph.host.data;
  if (!axis || !graph.view.mapping || !graph.elements.nodes.size) return graph.frame.axis.hide();
  const { x, shrink } = graph.view.mapping;
  const zoom = graph.cy.zoom();
  const { width, height } = graph.frame.size();
  const middle = (axis[0] + axis[1]) / 2;
  const half = (axis[1] - axis[0]) / 2;
  const taken = graph.cy.nodes(".class").map((node) => {
    const { x1, x2 } = node.renderedBoundingBox({ includeLabels: false });
    return { left: x1, right: x2 };
  });
  graph.frame.axis.draw({
    x: (skew) => ((middle + skew * half) * x.scale + x.offset) * zoom + graph.cy.pan().x,
    width,
    height,
    top: STRIP_PX,
    taken,
    ruler: graph.ruler,
    sizes: sizes.map(([size, text]) => [Math.max(MIN_NODE_PX, size * shrink) * zoom ** 0.55, text]),
  });
}

/** Outlines of the selected cliques, and of those of what is pointed at. */
export function drawHulls(graph) {
  const { highlighted, cliques, groups } = graph.host.data;
  const pointed = graph.pointed();
  const ids = pointed ? (pointed.isNode() ? pointed : pointed.connectedNodes()).map((node) => Elements.idOf(node)) : [];
  const known = new Set(highlighted.map((clique) => JSON.stringify([...clique].sort())));
  const others = cliques.filter((clique) => !known.has(JSON.stringify([...clique].sort())));
  const outlines = { group: groups, selected: highlighted, pointed: cliquesOf(others, ids) };
  graph.frame.hulls.draw(outlines, (id) => {
    const node = graph.elements.get(id);
    return node.empty() ? null : { ...node.renderedPosition(), radius: node.renderedHeight() / 2 };
  });
}
