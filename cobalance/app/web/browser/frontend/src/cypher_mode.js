/** Cypher for CodeMirror: a tokenizer that tells labels, types, properties and parameters apart. */

import { LanguageSupport, StreamLanguage } from "@codemirror/language";
import { tags } from "@lezer/highlight";

const words = (text) => new Set(text.trim().split(/\s+/));

const KEYWORDS = words(`
  ALL AND AS ASC ASCENDING BY CALL CASE CONSTRAINTS CONTAINS CREATE DELETE DESC DESCENDING DETACH DISTINCT DROP ELSE END
  ENDS EXPLAIN FINISH FOREACH IN INDEXES IS LIMIT LOAD MATCH MERGE NOT OFFSET ON OPTIONAL OR ORDER PROFILE REMOVE RETURN
  SET SHOW SKIP STARTS THEN UNION UNWIND USING WHEN WHERE WITH XOR YIELD`);
const SUBQUERIES = words("COLLECT COUNT EXISTS");
const CONSTANTS = words("FALSE NULL TRUE");
const WORD = /^[\p{L}_][\p{L}\p{N}_]*/u;
const CLOSING = { ")": "(", "]": "[", "}": "{" };

/** What a word is, by what stands before and behind it. */
function kindOf(word, stream, state) {
  const upper = word.toUpperCase();
  const inMap = state.open.at(-1) === "{";
  const follows = (pattern) => stream.match(pattern, false);
  if (state.before === ".") return "property";
  if (state.before === ":" && !inMap) return state.open.at(-1) === "[" ? "type" : "label";
  if (inMap && follows(/^\s*:(?!:)/)) return "property";
  if (SUBQUERIES.has(upper) && follows(/^\s*\{/)) return "keyword";
  if (CONSTANTS.has(upper)) return "constant";
  if (KEYWORDS.has(upper) && !(upper === "ALL" && follows(/^\s*\(/))) return "keyword";
  return follows(/^(\.[\p{L}_]\w*)*\s*\(/u) ? "function" : "variable";
}

/** The next token's kind; `state.before` is the symbol right before it, if it decides about it. */
export function nextToken(stream, state) {
  if (state.inComment || stream.match("/*")) {
    state.inComment = !stream.match(/^.*?\*\//);
    if (state.inComment) stream.skipToEnd();
    return "comment";
  }
  if (state.quote) return inString(stream, state, state.quote);
  if (stream.eatSpace()) return null;
  if (stream.match("//")) {
    stream.skipToEnd();
    return "comment";
  }
  if (stream.match(/^['"]/)) return inString(stream, state, stream.current());
  const kind = plainToken(stream, state);
  const text = stream.current();
  const chained = /^[|&!%]$/.test(text) && (state.chain || state.before === ":");
  state.chain = kind === "label" || kind === "type";
  state.before = chained ? ":" : text === "." || text === ":" ? text : "";
  return kind;
}

function plainToken(stream, state) {
  if (stream.match(/^\$(?:[\p{L}\p{N}_]+|`(?:[^`]|``)*`?)/u)) return "parameter";
  if (stream.match(/^(?:\d[\w]*(?:\.\d[\w]*)?|\.\d\w*)/)) return "number";
  if (stream.match(/^`(?:[^`]|``)*`?/)) return kindOf("`", stream, state);
  const word = stream.match(WORD);
  if (word) return kindOf(word[0], stream, state);
  if (stream.match(/^[([{]/)) state.open.push(stream.current());
  else if (stream.match(/^[)\]}]/)) {
    if (state.open.at(-1) === CLOSING[stream.current()]) state.open.pop();
  } else {
    if (!stream.match(/^(?:\.\.|::|<=|>=|<>|=~|->|<-)/)) stream.next();
    return /[.:,;]/.test(stream.current()) ? "punctuation" : "operator";
  }
  return "bracket";
}

function inString(stream, state, quote) {
  state.quote = quote;
  state.before = "";
  for (let next = stream.next(); next !== undefined; next = stream.next()) {
    if (next === "\\") stream.next();
    else if (next === quote) {
      state.quote = "";
      break;
    }
  }
  return "string";
}

export const startState = () => ({ open: [], before: "", chain: false, quote: "", inComment: false });

const language = StreamLanguage.define({
  name: "cypher",
  startState,
  copyState: (state) => ({ ...state, open: [...state.open] }),
  token: nextToken,
  tokenTable: {
    label: tags.typeName,
    type: tags.className,
    property: tags.propertyName,
    parameter: tags.special(tags.variableName),
    function: tags.function(tags.variableName),
    variable: tags.variableName,
    constant: tags.bool,
    punctuation: tags.punctuation,
  },
  languageData: {
    commentTokens: { line: "//", block: { open: "/*", close: "*/" } },
    closeBrackets: { brackets: ["(", "[", "{", "'", '"', "`"] },
  },
});

export const cypher = () => new LanguageSupport(language);
