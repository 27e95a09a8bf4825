/** Soft outlines around the nodes of cliques. */

const SVG = "http://www.w3.org/2000/svg";
const PADDING_PX = 7;
const AROUND = 24; // points on each circle
const MOST_POINTED = 3; // cliques of a node that is pointed at

/**
 * The convex hull of some discs, as corners in order; empty without discs.
 * @param {{x: number, y: number, radius: number}[]} discs
 * @param {number} padding around each disc
 * @returns {{x: number, y: number}[]}
 */
export function hull(discs, padding = PADDING_PX) {
  const points = discs
    .flatMap(({ x, y, radius }) =>
      Array.from({ length: AROUND }, (_, i) => {
        const angle = (2 * Math.PI * i) / AROUND;
        return { x: x + (radius + padding) * Math.cos(angle), y: y + (radius + padding) * Math.sin(angle) };
      }),
    )
    .sort((a, b) => a.x - b.x || a.y - b.y);
  // Andrew's monotone chain, once along the top and once along the bottom.
  const chain = (ordered) => {
    const corners = [];
    for (const point of ordered) {
      while (corners.length > 1 && turn(corners.at(-2), corners.at(-1), point) <= 1e-9) corners.pop();
      corners.push(point);
    }
    return corners.slice(0, -1);
  };
  return [...chain(points), ...chain(points.toReversed())];
}

const turn = (a, b, c) => (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);

/**
 * The first cliques that have all of some nodes, and more.
 * @param {string[][]} cliques
 * @param {string[]} ids
 */
export const cliquesOf = (cliques, ids) =>
  ids.length
    ? cliques.filter((clique) => clique.length > 1 && ids.every((id) => clique.includes(id))).slice(0, MOST_POINTED)
    : [];

export class Hulls {
  constructor() {
    this.svg = document.createElementNS(SVG, "svg");
    this.svg.setAttribute("class", "hulls");
    this.svg.setAttribute("aria-hidden", "true");
    this.drawn = [];
  }

  /**
   * @param {Object<string, string[][]>} outlines ids of the nodes in each, by what they are
   * @param {(id: string) => {x: number, y: number, radius: number} | null} discOf
   */
  draw(outlines, discOf) {
    const shown = Object.entries(outlines)
      .flatMap(([name, sets]) => sets.map((ids) => ({ name, ids, discs: ids.map(discOf).filter(Boolean) })))
      .filter(({ discs }) => discs.length > 1);
    this.drawn = shown.map(({ name, ids }) => [name, ...ids]);
    this.svg.replaceChildren(
      ...shown.map(({ name, discs }) => {
        const outline = document.createElementNS(SVG, "path");
        const corners = hull(discs).map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`);
        outline.setAttribute("d", `M${corners.join("L")}Z`);
        outline.setAttribute("class", name);
        return outline;
      }),
    );
  }
}
