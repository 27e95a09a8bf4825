/** What browser tests see of a graph. */

import { Elements } from "./elements.js";

/**
 * What browser tests use, as `cobalanceGraph` on the element with the class `concept-graph`.
 * Positions are in CSS pixels of the window, as a mouse is moved to them.
 * @param {import("./graph.js").ConceptGraph} graph
 */
export function testingInterface(graph) {
  const inWindow = ({ x, y }) => {
    const { left, top } = graph.frame.stage.getBoundingClientRect();
    return { x: x + left, y: y + top };
  };
  const ids = (nodes) => nodes.map((node) => Elements.idOf(node));
  return {
    /** {id: {x, y}} of every node. */
    renderedPositions: () =>
      Object.fromEntries(graph.cy.nodes().map((node) => [Elements.idOf(node), inWindow(node.renderedPosition())])),
    /** [{source, target, x, y, ghost}]: a point on every edge. */
    renderedEdges: () =>
      graph.cy.edges().map((edge) => ({
        source: edge.data("raw").source,
        target: edge.data("raw").target,
        ghost: edge.hasClass("ghost"),
        ...inWindow(edge.renderedMidpoint()),
      })),
    selected: () => ids(graph.cy.nodes(":selected")),
    highlighted: () => ids(graph.cy.nodes(".highlighted")),
    dimmed: () => ids(graph.cy.nodes(".dim")),
    /** Ids of the nodes whose label is drawn. */
    labelled: () => ids(graph.cy.nodes().not(".unlabelled")),
    /** ["group", "selected" or "pointed", ...ids] of each outline. */
    hulls: () => graph.frame.hulls.drawn,
    focused: () => graph.focused,
    zoom: () => graph.cy.zoom(),
    pan: () => ({ ...graph.cy.pan() }),
    /** {skew: x} of the lines of the axis; empty without one. */
    axis: () =>
      Object.fromEntries(
        [...graph.frame.axis.svg.querySelectorAll("line")].map((line) => [
          line.dataset.skew,
          line.getBoundingClientRect().x,
        ]),
      ),
    /** Whether the picture fits itself to the room, as it does until somebody pans or zooms. */
    fitted: () => Boolean(graph.view.mapping) && !graph.view.moved,
    /** The id of the step that is shown; null between two, and without any. */
    step: () => graph.story.settled(),
    /** The same as long as the graph was updated and not made anew. */
    identity: graph,
  };
}
