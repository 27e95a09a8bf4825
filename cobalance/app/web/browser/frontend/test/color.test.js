import assert from "node:assert/strict";
import { test } from "node:test";

import { contrast, diverging, luminance, parseColor, readableOn, toCss } from "../src/color.js";

const [white, black, blue, orange, grey] = ["#fff", "#000000", "#0072B2", "#D55E00", "#8c9299"].map((c) => parseColor(c));

test("colours are read in the forms that browsers give", () => {
  assert.equal(toCss(parseColor("#0072B2")), "rgb(0,114,178)");
  assert.equal(toCss(parseColor("#fff")), "rgb(255,255,255)");
  assert.equal(toCss(parseColor("rgba(49, 51, 63, 0.2)")), "rgb(49,51,63)");
  assert.equal(toCss(parseColor("nonsense", black)), "rgb(0,0,0)");
});

test("the scale has its three colours where they belong", () => {
  assert.equal(toCss(diverging(-1, blue, grey, orange)), toCss(blue));
  assert.equal(toCss(diverging(0, blue, grey, orange)), toCss(grey));
  assert.equal(toCss(diverging(1, blue, grey, orange)), toCss(orange));
});

test("contrast is that of WCAG", () => {
  assert.equal(contrast(white, black).toFixed(2), "21.00");
  assert.equal(contrast(parseColor("#777777"), white).toFixed(2), "4.48");
});

test("what is made readable is, on light and on dark", () => {
  for (const ground of [white, black, parseColor("#0e1117"), parseColor("#f0f2f6")])
    for (const color of [white, black, blue, orange, grey, parseColor("#ffff00")])
      assert.ok(contrast(readableOn(color, ground, 3), ground) >= 3);
  assert.ok(luminance(readableOn(blue, black, 4.5)) > luminance(blue));
  assert.deepEqual(readableOn(blue, white, 3), blue);
});
