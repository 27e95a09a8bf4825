import assert from "node:assert/strict";
import { test } from "node:test";

import { StringStream } from "@codemirror/language";

import { suggest } from "../src/cypher_completion.js";
import { nextToken, startState } from "../src/cypher_mode.js";

/** The tokens of a query as "kind text", without spaces and brackets. */
function tokens(query) {
  const state = startState();
  const found = [];
  for (const line of query.split("\n")) {
    const stream = new StringStream(line, 2, 2);
    while (!stream.eol()) {
      stream.start = stream.pos;
      const kind = nextToken(stream, state);
      assert.ok(stream.pos > stream.start, `stuck at ${line.slice(stream.pos)}`);
      if (kind && !["bracket", "operator", "punctuation"].includes(kind)) found.push(`${kind} ${stream.current()}`);
    }
  }
  return found;
}

test("labels, types, properties and parameters are told apart", () => {
  assert.deepEqual(tokens("MATCH (q:Clique {size: $n})-[c:COUNTED_IN]->(y:Class) RETURN q.gap AS gap"), [
    "keyword MATCH",
    "variable q",
    "label Clique",
    "property size",
    "parameter $n",
    "variable c",
    "type COUNTED_IN",
    "variable y",
    "label Class",
    "keyword RETURN",
    "variable q",
    "property gap",
    "keyword AS",
    "variable gap",
  ]);
});

test("a word is what its place says", () => {
  assert.deepEqual(tokens("MATCH (n:Set|Match&!Return) RETURN n.delete, {limit: 1}"), [
    "keyword MATCH",
    "variable n",
    "label Set",
    "label Match",
    "label Return",
    "keyword RETURN",
    "variable n",
    "property delete",
    "property limit",
    "number 1",
  ]);
  assert.deepEqual(tokens("RETURN count(n), COUNT { (n)--() }, count, all(x IN [1.5] WHERE true)"), [
    "keyword RETURN",
    "function count",
    "variable n",
    "keyword COUNT",
    "variable n",
    "variable count",
    "function all",
    "variable x",
    "keyword IN",
    "number 1.5",
    "keyword WHERE",
    "constant true",
  ]);
});

test("strings and comments go on over lines", () => {
  assert.deepEqual(tokens("RETURN 'it\\'s\nSET' /* a\nSET */ + \"x\" // SET\nAS `a b`"), [
    "keyword RETURN",
    "string 'it\\'s",
    "string SET'",
    "comment /* a",
    "comment SET */",
    'string "x"',
    "comment // SET",
    "keyword AS",
    "variable `a b`",
  ]);
});

test("whatever is typed is read to its end", () => {
  for (const text of ["'", "`", '"\\', "/*", "$", "})]", "a..b", "😀 é_1", "(:", "[:A|", "\\", "1.", "..", "$`"]) tokens(text);
});

const words = {
  keywords: ["MATCH", "RETURN"],
  functions: { collect: "value", "date.truncate": "unit, value" },
  labels: { Clique: { about: "", properties: { gap: "int", size: "int" } }, Class: { about: "", properties: { name: "str" } } },
  types: { COUNTED_IN: { about: "", properties: { images: "int" } } },
};

/** What is offered at the `|` of a query, in its order. */
function list_offered(marked, asked = true) {
  const at = marked.indexOf("¦");
  const found = suggest(marked.replace("¦", ""), at, words, ["dataset"], asked);
  return found && found.options.map(({ label }) => label);
}

test("labels after a colon, types in a relationship", () => {
  assert.deepEqual(list_offered("MATCH (q:¦"), ["Clique", "Class"]);
  assert.deepEqual(list_offered("MATCH (q:Clique|Cl¦)"), ["Clique", "Class"]);
  assert.deepEqual(list_offered("MATCH (q)-[n:¦]->()"), ["COUNTED_IN"]);
  assert.deepEqual(list_offered("MATCH (q) WHERE q:¦"), ["Clique", "Class"]);
});

test("properties of what a variable was bound to, wherever that stands", () => {
  assert.deepEqual(list_offered("MATCH (q:Clique) RETURN q.¦"), ["gap", "size"]);
  assert.deepEqual(list_offered("RETURN n.i¦ MATCH ()-[n:COUNTED_IN]->()"), ["images"]);
  assert.deepEqual(list_offered("MATCH (q:Clique {¦"), ["gap", "size"]);
  assert.deepEqual(list_offered("MATCH (q:Clique {gap: 1, s¦"), ["gap", "size"]);
  assert.deepEqual(list_offered("RETURN unknown.¦").sort(), ["gap", "images", "name", "size"]);
});

test("a function's namespace is completed, too", () => {
  const { from, options } = suggest("RETURN date.tr", 14, words, []);
  assert.equal(from, 7);
  assert.deepEqual(options.map(({ label }) => label), ["date.truncate"]);
});

test("parameters, variables, keywords", () => {
  assert.deepEqual(list_offered("RETURN $d¦"), ["dataset"]);
  assert.ok(list_offered("MATCH (q:Clique) WITH q.gap AS wide RETURN w¦").includes("wide"));
  assert.deepEqual(list_offered("MATCH (q:Clique)-[n:COUNTED_IN]->() re¦").slice(0, 4), ["q", "n", "MATCH", "RETURN"]);
  assert.deepEqual(list_offered("RETURN [x IN xs | co¦").includes("collect"), true);
});

test("nothing in strings, comments and values of a pattern, and nothing unasked in an empty place", () => {
  for (const text of ["RETURN 'a:¦", "RETURN 1 // :¦", "RETURN /* :¦", 'RETURN "(q:¦"']) assert.equal(list_offered(text), null);
  assert.equal(list_offered("RETURN ¦", false), null);
  assert.notEqual(list_offered("RETURN ¦"), null);
});
