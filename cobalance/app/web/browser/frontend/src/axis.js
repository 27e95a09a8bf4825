/** The axis of skew below and behind the concepts, and the key of sizes. */

const SVG = "http://www.w3.org/2000/svg";

/** Room below the concepts for the classes and the ticks, in pixels. */
export const AXIS_PX = 52;

/** Room between either end of the axis and the frame, in pixels: half of the largest disc. */
export const END_PX = 40;

const TICKS = [
  [-1, ""],
  [-0.5, "3 times the rate"],
  [0, "equal rates"],
  [0.5, "3 times the rate"],
  [1, ""],
];
const FONT_PX = 12;

/** The share of the room that a skew from -1 to +1 stands at. */
export const axisScale = ([left, right], width) => {
  const scale = (width - 2 * END_PX) / (right - left);
  return { scale, offset: END_PX - left * scale };
};

export class Axis {
  constructor() {
    this.svg = document.createElementNS(SVG, "svg");
    this.svg.setAttribute("class", "axis");
    this.svg.setAttribute("aria-hidden", "true");
  }

  hide() {
    this.svg.replaceChildren();
  }

  /**
   * @param {{x: (skew: number) => number, width: number, height: number, top: number,
   *     taken: {left: number, right: number}[], ruler: object, sizes: [number, string][]}} at
   */
  draw({ x, width, height, top, taken, ruler, sizes }) {
    const free = taken.map(({ left, right }) => ({ left: left - 8, right: right + 8 }));
    const ticks = TICKS.flatMap(([skew, text]) => {
      const place = Math.round(x(skew) * 10) / 10;
      const line = make("line", { x1: place, x2: place, y1: top, y2: height - AXIS_PX + 8 });
      line.setAttribute("class", skew ? "tick" : "middle");
      line.dataset.skew = skew;
      const half = ruler.width(text, FONT_PX) / 2;
      const box = { left: place - half, right: place + half };
      const fits = box.left > 4 && box.right < width - 4;
      if (!text || !fits || free.some((other) => box.left < other.right && other.left < box.right)) return [line];
      free.push({ left: box.left - 8, right: box.right + 8 });
      const label = make("text", { x: place, y: height - AXIS_PX / 2 + 4, "text-anchor": "middle" });
      label.textContent = text;
      return [line, label];
    });
    this.svg.replaceChildren(...ticks, ...key(sizes, ruler));
  }
}

/** Discs with the images that they stand for, at the top left. */
function* key(sizes, ruler) {
  let left = 12;
  for (const [at, [size, text]] of sizes.entries()) {
    yield make("circle", { cx: left + size / 2, cy: 22, r: size / 2, class: "key" });
    const words = at ? text : `${text} images`;
    const label = make("text", { x: left + size + 6, y: 26 });
    label.textContent = words;
    yield label;
    left += size + 6 + ruler.width(words, FONT_PX) + 14;
  }
}

function make(tag, attributes) {
  const created = document.createElementNS(SVG, tag);
  Object.entries(attributes).forEach(([name, value]) => created.setAttribute(name, value));
  return created;
}
