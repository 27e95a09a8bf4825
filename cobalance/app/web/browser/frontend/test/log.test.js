import assert from "node:assert/strict";
import { test } from "node:test";

import { DecisionLog } from "../src/log.js";

const verdicts = { a: "accepted", b: "accepted", c: "rejected" };

test("decisions show at once, and are reported until they are taken over", () => {
  const log = new DecisionLog("one");
  log.take(null, verdicts);
  log.add("rejected", ["a"]);
  log.add("accepted", ["b", "c"]);
  assert.deepEqual(["a", "b", "c"].map((id) => log.verdict(id)), ["rejected", "accepted", "accepted"]);
  log.take({ name: "one", number: 1 }, { ...verdicts, a: "rejected" });
  assert.deepEqual(log.report(), { name: "one", entries: [[2, "accepted", ["b", "c"]]] });
  assert.equal(log.verdict("c"), "accepted"); // not as the late answer has it
  log.take({ name: "one", number: 2 }, verdicts);
  assert.deepEqual(log.report().entries, []);
});

test("undo takes back one decision after the other", () => {
  const log = new DecisionLog("one");
  log.take(null, verdicts);
  log.add("rejected", ["a", "b"]);
  log.add("accepted", ["a"]);
  assert.deepEqual(log.undo(), ["a"]);
  assert.equal(log.verdict("a"), "rejected");
  assert.deepEqual(log.undo(), ["a", "b"]);
  assert.deepEqual(["a", "b"].map((id) => log.verdict(id)), ["accepted", "accepted"]);
  assert.equal(log.undo(), null);
  assert.deepEqual(log.report().entries.map(([, verdict]) => verdict), ["rejected", "accepted", "undo", "undo"]);
});

test("an answer to another log takes nothing over", () => {
  const log = new DecisionLog("one");
  log.take(null, verdicts);
  log.add("rejected", ["a"]);
  log.take({ name: "other", number: 9 }, verdicts);
  assert.equal(log.report().entries.length, 1);
  assert.equal(log.verdict("a"), "rejected");
});
