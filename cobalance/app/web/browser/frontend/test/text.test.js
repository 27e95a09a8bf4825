import assert from "node:assert/strict";
import { test } from "node:test";

import { LABEL_LENGTH, announcement, shorten, summary } from "../src/text.js";

test("short names stay", () => {
  assert.equal(shorten("dog"), "dog");
  assert.equal(shorten("x".repeat(LABEL_LENGTH)), "x".repeat(LABEL_LENGTH));
});

test("long names keep both ends", () => {
  const short = shorten(`left ${"a".repeat(300)} right`);
  assert.ok(short.startsWith("left aaa") && short.endsWith("a right") && short.includes("…"));
  assert.ok([...short].length <= LABEL_LENGTH);
  assert.notEqual(shorten(`${"same ".repeat(9)}A`), shorten(`${"same ".repeat(9)}B`));
});

test("an emoji is not cut in two", () => {
  const family = "👩‍👩‍👧‍👦";
  assert.equal(shorten(family.repeat(24)), family.repeat(24));
  assert.equal(shorten(family.repeat(25)), `${family.repeat(16)}…${family.repeat(7)}`);
});

test("a name is one line, and turns nothing round", () => {
  assert.equal(shorten("line\nbreak\ttab"), "line break tab");
  assert.equal(shorten("\u202eevil\0"), "evil");
  assert.equal(shorten(" \n"), "(no name)");
});

test("markup is text", () => {
  assert.equal(shorten("<b>dog</b>"), "<b>dog</b>");
});

test("announcements are sentences", () => {
  const dog = { label: "dog", kind: "concept", description: "12 images.\ncat: 3" };
  assert.equal(announcement(dog, true, 1), "\u2068dog\u2069, concept. 12 images, cat: 3. 1 neighbour. selected.");
});

test("the summary names classes, leanings, highlighted and selected nodes", () => {
  const node = (label, skew, kind = "concept") => ({ id: label, label, skew, kind, description: "" });
  const nodes = [node("cat", -1, "class"), node("sofa", -0.8), node("bed", -0.9), node("kennel", 0.7), node("sky", 0)];
  assert.equal(summary([], [], [], []), "The graph is empty.");
  assert.equal(
    summary(nodes, [{}], [nodes[1]], [nodes[4]]).replaceAll(/[\u2068\u2069]/g, ""),
    "4 concepts and 1 edge are drawn. Classes: cat. Furthest to the left: bed, sofa. " +
      "Furthest to the right: kennel. Highlighted: sofa. Selected: sky.",
  );
});
