import assert from "node:assert/strict";
import { test } from "node:test";

import { cliquesOf, hull } from "../src/hulls.js";

/** Signed distances of a point from all sides of a polygon: positive inside. */
const distances = (corners, { x, y }) =>
  corners.map((a, i) => {
    const b = corners[(i + 1) % corners.length];
    return ((b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x)) / Math.hypot(b.x - a.x, b.y - a.y);
  });

const disc = (x, y, radius = 5) => ({ x, y, radius });

test("a hull has every disc inside, with room around it", () => {
  for (const discs of [
    [disc(0, 0)],
    [disc(0, 0), disc(0, 0)],
    [disc(0, 0), disc(50, 0), disc(100, 0)],
    [disc(0, 0), disc(80, 10, 20), disc(40, 90, 1), disc(41, 30)],
  ])
    for (const { x, y, radius } of discs)
      for (const distance of distances(hull(discs, 10), { x, y })) assert.ok(distance >= (radius + 10) * 0.99, `${distance}`);
});

test("a hull is convex, and no larger than it must be", () => {
  const corners = hull([disc(0, 0), disc(100, 0), disc(50, 80)], 10);
  for (const corner of corners) for (const distance of distances(corners, corner)) assert.ok(distance > -1e-6);
  assert.ok(Math.min(...distances(corners, { x: 5, y: 70 })) < 0); // beside the triangle
  assert.deepEqual(hull([]), []);
});

test("the first cliques with a node, or with both ends of a link", () => {
  const cliques = [["a", "b"], ["c"], ["a", "b", "c"], ["b", "c"], ["a", "c"], ["a", "d"]];
  assert.deepEqual(cliquesOf(cliques, ["a"]), [["a", "b"], ["a", "b", "c"], ["a", "c"]]);
  assert.deepEqual(cliquesOf(cliques, ["c", "b"]), [["a", "b", "c"], ["b", "c"]]);
  assert.deepEqual(cliquesOf(cliques, ["c"]), [["a", "b", "c"], ["b", "c"], ["a", "c"]]);
  assert.deepEqual(cliquesOf(cliques, []), []);
});
