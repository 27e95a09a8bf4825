/** Colours: a diverging scale in OKLab, and contrast as WCAG defines it. */

const HEX = /^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i;
const RGB = /^rgba?\(\s*([\d.]+)[\s,]+([\d.]+)[\s,]+([\d.]+)/i;

/** @typedef {[number, number, number]} Rgb red, green and blue in [0, 1] */

/**
 * A hex or rgb() colour as numbers, without its opacity; the fallback where it is neither.
 * @param {string} css
 * @param {Rgb} fallback
 * @returns {Rgb}
 */
export function parseColor(css, fallback = [0.5, 0.5, 0.5]) {
  const text = css.trim();
  if (HEX.test(text)) {
    const digits = text.slice(1);
    const pairs =
      digits.length < 6 ? [...digits].slice(0, 3).map((d) => d + d) : digits.match(/../g).slice(0, 3);
    return /** @type {Rgb} */ (pairs.map((pair) => Number.parseInt(pair, 16) / 255));
  }
  const parts = RGB.exec(text);
  return parts ? /** @type {Rgb} */ (parts.slice(1, 4).map((part) => Number(part) / 255)) : fallback;
}

/** @param {Rgb} color */
export function toCss(color) {
  return `rgb(${color.map((part) => Math.round(clamp(part) * 255)).join(",")})`;
}

/**
 * The colour of a skew: left at -1, neutral at 0, right at +1, in equal steps to the eye between.
 * @param {number} skew
 * @param {Rgb} left
 * @param {Rgb} neutral
 * @param {Rgb} right
 * @returns {Rgb}
 */
export function diverging(skew, left, neutral, right) {
  const share = Math.min(1, Math.abs(skew));
  const from = toOklab(neutral);
  const to = toOklab(skew < 0 ? left : right);
  return fromOklab(from.map((part, i) => part + (to[i] - part) * share));
}

/**
 * The same hue, made lighter or darker until it stands out from what it lies on.
 * @param {Rgb} color
 * @param {Rgb} ground
 * @param {number} ratio the WCAG contrast ratio to reach
 * @returns {Rgb}
 */
export function readableOn(color, ground, ratio) {
  const step = luminance(ground) > 0.18 ? -0.01 : 0.01;
  let [lightness, ...hue] = toOklab(color);
  let result = color;
  for (let steps = 0; steps < 100 && contrast(result, ground) < ratio; steps += 1) {
    lightness += step;
    result = fromOklab([lightness, ...hue]);
  }
  return result;
}

/** @param {Rgb} one @param {Rgb} other */
export function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** @param {Rgb} color */
export function luminance(color) {
  const [red, green, blue] = color.map(toLinear);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const clamp = (part) => Math.min(1, Math.max(0, part));
const toLinear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
const fromLinear = (part) => (part <= 0.0031308 ? part * 12.92 : 1.055 * part ** (1 / 2.4) - 0.055);

// Björn Ottosson, "A perceptual color space for image processing", 2020.
function toOklab(color) {
  const [r, g, b] = color.map(toLinear);
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/** @returns {Rgb} */
function fromOklab([lightness, a, b]) {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return /** @type {Rgb} */ (
    [
      4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
      -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
      -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
    ].map((part) => clamp(fromLinear(clamp(part))))
  );
}
