/** Streamlit's theme, read from the CSS variables that it hands to components. */

import { contrast, diverging, luminance, parseColor, readableOn, toCss } from "./color.js";

const WHITE = parseColor("#ffffff");
const NEUTRAL = parseColor("#8c9299"); // at least 3:1 on white and on Streamlit's dark ground
const LINE_CONTRAST = 3; // WCAG 2.2, 1.4.11: what is needed to understand a graphic
const TEXT_CONTRAST = 4.5; // WCAG 2.2, 1.4.3

export class Theme {
  /**
   * @param {Element} element inside the page, so that it inherits the variables
   * @param {string} leftColor
   * @param {string} rightColor
   */
  constructor(element, leftColor, rightColor) {
    const style = getComputedStyle(element);
    const read = (name, fallback) => style.getPropertyValue(`--st-${name}`).trim() || fallback;
    const color = (name, fallback) => parseColor(asRgb(read(name, fallback)), parseColor(fallback));
    this.background = color("background-color", "#ffffff");
    this.text = color("text-color", luminance(this.background) > 0.18 ? "#262730" : "#fafafa");
    this.primary = readableOn(color("primary-color", "#ff4b4b"), this.background, LINE_CONTRAST);
    this.font = read("font", "sans-serif");
    this.left = parseColor(leftColor);
    this.right = parseColor(rightColor);
    this.neutral = readableOn(NEUTRAL, this.background, LINE_CONTRAST);
    this.signature = JSON.stringify(this);
  }

  /** The colour of what leans so far, unless it has its own. */
  hue(skew, own) {
    return own ? parseColor(own) : diverging(skew, this.left, this.neutral, this.right);
  }

  /** The colour of a concept or an edge. */
  lean(skew, own) {
    return toCss(readableOn(this.hue(skew, own), this.background, LINE_CONTRAST));
  }

  /** The colour of a class: dark enough for its white label. */
  classFill(skew, own) {
    const fill = this.hue(skew, own);
    return toCss(contrast(fill, WHITE) < TEXT_CONTRAST ? readableOn(fill, WHITE, TEXT_CONTRAST) : fill);
  }

  /** Cytoscape's style sheet for this theme; sizes and fills come with each element. */
  styleSheet() {
    const [text, background, primary] = [this.text, this.background, this.primary].map(toCss);
    return [
      {
        selector: "core",
        style: {
          "active-bg-opacity": 0,
          "selection-box-color": primary,
          "selection-box-opacity": 0.15,
          "selection-box-border-color": primary,
          "selection-box-border-width": 1,
        },
      },
      { selector: "node, edge", style: { "overlay-opacity": 0, "underlay-opacity": 0 } },
      {
        selector: "node",
        style: {
          width: "data(w)",
          height: "data(h)",
          "background-color": "data(fill)",
          "border-width": "data(rim)",
          "border-color": background,
          label: "data(text)",
          color: text,
          "font-family": this.font,
          "font-size": "data(font)",
          "text-outline-color": background,
          "text-outline-width": "data(halo)",
          "text-outline-opacity": 0.9,
          "text-valign": "bottom",
          "text-margin-y": "data(rim)",
          "text-events": "no",
          "z-index": 1,
        },
      },
      { selector: "node.top", style: { "text-valign": "top", "text-margin-y": 0 } },
      {
        selector: "node.right",
        style: { "text-valign": "center", "text-halign": "right", "text-margin-x": "data(halo)", "text-margin-y": 0 },
      },
      {
        selector: "node.left",
        style: { "text-valign": "center", "text-halign": "left", "text-margin-x": -2, "text-margin-y": 0 },
      },
      { selector: "node.unlabelled", style: { "text-opacity": 0 } },
      {
        selector: "node.class",
        style: {
          shape: "round-rectangle",
          "corner-radius": 6,
          "border-width": 0,
          color: "#ffffff",
          "font-weight": "bold",
          "text-outline-width": 0,
          "text-valign": "center",
          "text-margin-y": 0,
          "z-index": 5,
        },
      },
      {
        selector: "edge",
        style: {
          width: "data(w)",
          "line-color": "data(fill)",
          "line-opacity": 0.45,
          "curve-style": "unbundled-bezier",
          "control-point-distances": "data(arc)",
          "control-point-weights": 0.5,
          "edge-distances": "node-position",
          "z-index": 0,
        },
      },
      { selector: "edge:loop", style: { "curve-style": "bezier" } },
      { selector: "edge.near", style: { "line-opacity": 0.95 } },
      { selector: "edge.ghost", style: { "line-style": "dashed", "line-dash-pattern": [7, 4] } },
      { selector: "edge.clique", style: { "line-color": text, "line-opacity": 0.9, "z-index": 3 } },
      { selector: "edge.between", style: { "line-color": text, "line-opacity": 0.9, "z-index": 4 } },
      { selector: "node.highlighted", style: { "z-index": 6 } },
      { selector: ".away", style: { opacity: 0.25 } },
      { selector: ".dim", style: { opacity: 0.12 } },
      { selector: "node.dim", style: { opacity: 0.3 } },
      { selector: ".absent", style: { opacity: 0.3 } },
      // The sides stay legible: they say what left and right mean.
      { selector: "node.class.away, node.class.dim", style: { opacity: 0.65 } },
      { selector: "node.away:selected, node.dim:selected", style: { opacity: 0.65 } },
      { selector: "node.named", style: { "text-opacity": 1, "z-index": 8 } },
      {
        selector: "node:selected",
        style: {
          "background-color": "data(fill)",
          "border-width": "data(ring)",
          "border-color": text,
          "border-position": "outside",
          "font-weight": "bold",
          "text-margin-y": "data(ring)",
          "z-index": 7,
        },
      },
      { selector: "node.top:selected", style: { "text-margin-y": -3 } },
      { selector: "node.right:selected", style: { "text-margin-x": "data(ring)", "text-margin-y": 0 } },
      { selector: "node.left:selected", style: { "text-margin-x": -4, "text-margin-y": 0 } },
      { selector: "node.class:selected", style: { "text-margin-y": 0 } },
      {
        selector: "node.focused",
        style: {
          "outline-width": "data(ring)",
          "outline-offset": "data(ring)",
          "outline-color": primary,
          "outline-style": "solid",
          "z-index": 9,
        },
      },
    ];
  }
}

/** Whether Streamlit's theme has a dark ground, where a component is. */
export function isDark(element) {
  const ground = getComputedStyle(element).getPropertyValue("--st-background-color").trim() || "#ffffff";
  return luminance(parseColor(asRgb(ground), WHITE)) < 0.18;
}

/** Whatever a style sheet may call a colour, as hex or rgb(). */
function asRgb(css) {
  const context = document.createElement("canvas").getContext("2d");
  context.fillStyle = css;
  return context.fillStyle;
}

/** Widths of texts in a font. */
export class Ruler {
  constructor(font) {
    this.font = font;
    this.widths = new Map();
    this.context = document.createElement("canvas").getContext("2d");
  }

  width(text, size_px, bold = false) {
    const name = `${bold}${text}`;
    if (!this.widths.has(name)) {
      this.context.font = `${bold ? "bold " : ""}100px ${this.font}`;
      this.widths.set(name, this.context.measureText(text).width / 100);
    }
    return this.widths.get(name) * size_px;
  }
}
