import assert from "node:assert/strict";
import { test } from "node:test";

import { neighbour } from "../src/cells.js";

const box = (left, top, width = 10) => ({ left, top, width });
const boxes = [box(0, 0), box(10, 0, 30), box(40, 0), box(0, 20, 30), box(30, 20, 20)];

test("left and right follow the order, and stop at the ends", () => {
  assert.equal(neighbour("ArrowRight", 2, boxes), 3);
  assert.equal(neighbour("ArrowLeft", 0, boxes), 0);
  assert.equal(neighbour("ArrowRight", 4, boxes), 4);
});

test("up and down lead to the nearest cell of the next row", () => {
  assert.equal(neighbour("ArrowDown", 1, boxes), 3);
  assert.equal(neighbour("ArrowDown", 0, boxes), 3);
  assert.equal(neighbour("ArrowUp", 4, boxes), 2);
  assert.equal(neighbour("ArrowUp", 1, boxes), 1);
  assert.equal(neighbour("ArrowDown", 3, boxes), 3);
});
