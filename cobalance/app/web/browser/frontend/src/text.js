/** What people read and hear: labels, tooltips, announcements. Never HTML. */

export const LABEL_LENGTH = 24;

/** Control characters, and those that would turn the direction of what follows. */
const INVISIBLE = /[\0-\x08\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const segments =
  typeof Intl !== "undefined" && Intl.Segmenter
    ? new Intl.Segmenter(undefined, { granularity: "grapheme" })
    : null;

/** The characters as a reader counts them: an emoji with its modifiers is one. */
function characters(text) {
  return segments ? Array.from(segments.segment(text), (part) => part.segment) : Array.from(text);
}

/**
 * A name as one line of at most `limit` characters, with an ellipsis in its middle: long names
 * often differ only at their ends.
 * @param {string} name
 * @param {number} limit
 */
export function shorten(name, limit = LABEL_LENGTH) {
  const line = name.replace(INVISIBLE, "").replace(/\s+/gu, " ").trim();
  if (line.length <= limit) return line || "(no name)";
  const parts = characters(line.slice(0, 4000)); // names may be hostile: bound the work
  if (parts.length <= limit) return parts.join("");
  const tail = Math.floor((limit - 1) / 3);
  const head = limit - 1 - tail;
  return `${parts.slice(0, head).join("").trimEnd()}…${parts.slice(-tail).join("").trimStart()}`;
}

/** A name inside a sentence, its writing direction kept from turning the sentence round. */
export const isolated = (name) => `\u2068${name}\u2069`;

export const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/** What a screen reader says about the node that the keyboard is on. */
export function announcement(node, selected, neighbours) {
  const parts = [
    `${isolated(node.label)}, ${node.kind}`,
    node.description.replace(/[\s.]+$/u, "").replace(/[\s.]*\n\s*/gu, ", "),
    plural(neighbours, "neighbour"),
    selected ? "selected" : "not selected",
  ];
  return `${parts.filter(Boolean).join(". ")}.`;
}

/** The picture in words, for those who do not see it. */
export function summary(nodes, edges, highlighted, selected) {
  if (!nodes.length) return "The graph is empty.";
  const concepts = nodes.filter((node) => node.kind !== "class");
  const classes = nodes.filter((node) => node.kind === "class");
  const names = (list) => list.map((node) => isolated(shorten(node.label))).join(", ");
  const leaning = (sign) =>
    concepts
      .filter((node) => node.skew * sign > 0)
      .sort((a, b) => (b.skew - a.skew) * sign)
      .slice(0, 5);
  const sentences = [
    `${plural(concepts.length, "concept")} and ${plural(edges.length, "edge")} are drawn`,
    classes.length ? `Classes: ${names(classes)}` : "",
    leaning(-1).length ? `Furthest to the left: ${names(leaning(-1))}` : "",
    leaning(1).length ? `Furthest to the right: ${names(leaning(1))}` : "",
    highlighted.length ? `Highlighted: ${names(highlighted)}` : "",
    selected.length ? `Selected: ${names(selected)}` : "",
  ];
  return sentences.filter(Boolean).map((sentence) => `${sentence}.`).join(" ");
}
