import assert from "node:assert/strict";
import { test } from "node:test";

import { fitAxis, labelBox, nearestTowards, overlaps, placeLabels } from "../src/placement.js";

const item = (at, reach = 5) => ({ at, before: reach, after: reach });
const place = ({ scale, offset }, { at }) => at * scale + offset;

test("all the room is used, and no more", () => {
  const items = [item(0, 30), item(10), item(40, 5)];
  const fitted = fitAxis(items, 10, 210, 100);
  assert.ok(Math.abs(place(fitted, items[0]) - 40) < 1e-6);
  assert.ok(Math.abs(place(fitted, items[2]) - 205) < 1e-6);
});

test("a small picture is stretched only so far, and centred", () => {
  assert.deepEqual(fitAxis([item(0), item(10)], 0, 100, 2), { scale: 2, offset: 40 });
  assert.equal(place(fitAxis([item(7)], 0, 100, 4), item(7)), 50);
});

test("without room the middle stays in the middle", () => {
  const items = [item(0, 80), item(10, 80)];
  const fitted = fitAxis(items, 0, 100, 4);
  assert.equal((place(fitted, items[0]) + place(fitted, items[1])) / 2, 50);
  assert.ok(place(fitted, items[0]) < place(fitted, items[1]));
});

test("labels cover neither each other nor a disc", () => {
  const discs = Array.from({ length: 60 }, (_, i) => ({
    x: (i * 37) % 300,
    y: (i * 53) % 200,
    radius: 4,
    width: 40,
    height: 12,
    always: false,
  }));
  const bounds = { left: 0, top: 0, right: 300, bottom: 200 };
  const sides = placeLabels(discs, [], bounds, 2);
  const boxes = discs.flatMap((disc, i) => (sides[i] ? [{ ...labelBox(disc, sides[i], 2), i }] : []));
  assert.ok(boxes.length > 5);
  boxes.forEach((box, i) => {
    boxes.slice(i + 1).forEach((other) => assert.ok(!overlaps(box, other)));
    discs.forEach(({ x, y, radius }, owner) => {
      const disc = { left: x - radius, right: x + radius, top: y - radius, bottom: y + radius };
      assert.ok(owner === box.i || !overlaps(box, disc));
    });
  });
});

test("a label that must be there is", () => {
  const disc = { x: 10, y: 10, radius: 4, width: 40, height: 12, always: true };
  const wall = { left: -100, top: -100, right: 100, bottom: 100 };
  assert.deepEqual(placeLabels([disc, { ...disc, always: false }], [wall], null, 2), ["bottom", null]);
});

test("arrows go to the nearest in their direction", () => {
  const from = { x: 0, y: 0 };
  const [ahead, behind, aside, far] = [
    { x: 10, y: 1 },
    { x: -5, y: 0 },
    { x: 8, y: 9 },
    { x: 30, y: 0 },
  ];
  const right = { x: 1, y: 0 };
  assert.equal(nearestTowards(from, [from, far, aside, behind, ahead], right), ahead);
  assert.equal(nearestTowards(from, [from, behind, aside], right), aside);
  assert.equal(nearestTowards(from, [from, behind], right), null);
});
