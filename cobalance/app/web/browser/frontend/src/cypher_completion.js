/** What may stand at the cursor of a query, from its text, the graph's schema and the parameters. */

import { snippetCompletion } from "@codemirror/autocomplete";

const QUOTED = /'(?:[^'\\]|\\.)*('|$)|"(?:[^"\\]|\\.)*("|$)|\/\/[^\n]*(\n|$)|\/\*[^]*?(\*\/|$)/g;
const PATTERN_NAME = /[([]\s*(\w+)\s*:\s*!?\s*(\w+)/g;
const LABELS = /:\s*!?\s*(?:\w+\s*[|&:]\s*!?\s*)*(\w*)$/;

/** The text with its strings and comments blanked, or null if it ends inside of one. */
function blanked(text) {
  let open = false;
  const plain = text.replace(QUOTED, (found, ...ends) => {
    const ended = ends.slice(0, 4).find((end) => end !== undefined);
    open ||= ended === "";
    return ended === "\n" ? `${" ".repeat(found.length - 1)}\n` : " ".repeat(found.length);
  });
  return open ? null : plain;
}

/** Where the innermost bracket that is open at the end stands, or -1. */
function openBracket(text) {
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at -= 1) {
    if (")]}".includes(text[at])) depth += 1;
    else if ("([{".includes(text[at])) {
      if (depth === 0) return at;
      depth -= 1;
    }
  }
  return -1;
}

const isType = (text, at) => text[at] === "[" && /-\s*$/.test(text.slice(0, at));

/** Variables of the query, with the label or type that they were bound with, if any. */
function variables(text) {
  const found = new Map([...text.matchAll(/\bAS\s+(\w+)/gi)].map(([, name]) => [name, null]));
  for (const [, name] of text.matchAll(/\(\s*([A-Za-z_]\w*)\s*\)/g)) found.set(name, null);
  for (const [, name, label] of text.matchAll(PATTERN_NAME)) found.set(name, label);
  return found;
}

const named = (kind) => (label, { about, properties }) => ({
  label,
  type: kind,
  info: [about, ...Object.keys(properties).map((name) => `· ${name}`)].join("\n"),
});

function properties(words, of) {
  const kinds = of === null ? [...Object.values(words.labels), ...Object.values(words.types)] : [of];
  const known = new Map(kinds.flatMap((kind) => Object.entries(kind.properties)));
  return [...known].map(([label, info]) => ({ label, type: "property", ...(of ? { info } : {}) }));
}

const functions = (words, prefix = "") =>
  Object.entries(words.functions)
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, given]) =>
      snippetCompletion(given ? `${name}(\${})` : `${name}()`, { label: name, type: "function", detail: `(${given})` }),
    );

/**
 * @param {string} text the whole query
 * @param {number} at the cursor
 * @param {{labels: object, types: object, functions: object, keywords: string[]}} words
 * @param {string[]} parameters
 * @param {boolean} asked whether a person asked, rather than typed
 * @returns {{from: number, options: object[]} | null}
 */
export function suggest(text, at, words, parameters, asked = true) {
  const before = blanked(text.slice(0, at));
  if (before === null) return null;
  const answer = (word, options) => ({ from: at - word.length, options });
  const kindOf = (name) => words.labels[name] ?? words.types[name] ?? null;

  const parameter = /\$(\w*)$/.exec(before);
  if (parameter) return answer(parameter[1], parameters.map((label) => ({ label, type: "variable" })));

  const dotted = /([A-Za-z_]\w*)\.(\w*)$/.exec(before);
  const bound = variables(blanked(text) ?? before);
  if (dotted) {
    const [whole, name, word] = dotted;
    const spaced = functions(words, `${name}.`);
    if (!bound.has(name) && spaced.length > 0) return answer(whole, spaced);
    return answer(word, properties(words, kindOf(bound.get(name))));
  }

  const opened = openBracket(before);
  const inside = before.slice(opened + 1);
  if (before[opened] !== "{") {
    const labels = LABELS.exec(inside);
    if (labels) {
      const type = isType(before, opened);
      const options = Object.entries(type ? words.types : words.labels).map(([label, one]) => named(type ? "type" : "class")(label, one));
      return answer(labels[1], options);
    }
  } else {
    const key = /(?:^|,)\s*(\w*)$/.exec(inside);
    const pattern = /[([]\s*\w*\s*:\s*(\w+)\s*$/.exec(before.slice(0, opened));
    if (key && pattern) return answer(key[1], properties(words, kindOf(pattern[1])));
    if (pattern) return null;
  }

  const word = /[A-Za-z_]\w*$/.exec(before)?.[0] ?? "";
  if (!word && !asked) return null;
  return answer(word, [
    ...[...bound.keys()].filter((name) => name !== word).map((label) => ({ label, type: "variable", boost: 1 })),
    ...words.keywords.map((label) => ({ label, type: "keyword" })),
    ...functions(words),
  ]);
}
