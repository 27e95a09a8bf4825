/** Decisions in their order, until Python has taken them over, and what they make of each image. */

export class DecisionLog {
  /** @param {string} name of this log, which Python counts the entries of */
  constructor(name) {
    this.name = name;
    this.last = 0; // number of the newest entry
    this.entries = []; // [number, "accepted" | "rejected" | "undo", ids]
    this.stored = {}; // verdicts as Python knows them
    this.history = []; // what undo takes back: [ids, verdicts before]
    this.shown = {}; // verdicts with all entries
  }

  /** Take over Python's verdicts, and forget the entries that these contain. */
  take(taken, verdicts) {
    if (taken?.name === this.name) this.entries = this.entries.filter(([number]) => number > taken.number);
    this.stored = verdicts;
    this.shown = { ...this.shown, ...verdicts };
    for (const [, verdict, ids, after] of this.entries)
      ids.forEach((id, i) => (this.shown[id] = verdict === "undo" ? after[i] : verdict));
  }

  verdict(id) {
    return this.shown[id];
  }

  add(verdict, ids) {
    this.history.push([ids, ids.map((id) => this.shown[id])]);
    this.entries.push([++this.last, verdict, ids]);
    ids.forEach((id) => (this.shown[id] = verdict));
  }

  /** Take the last decision back; gives the images that it was about, or null. */
  undo() {
    const last = this.history.pop();
    if (!last) return null;
    const [ids, before] = last;
    this.entries.push([++this.last, "undo", ids, before]);
    ids.forEach((id, i) => (this.shown[id] = before[i]));
    return ids;
  }

  /** What Python is told: the entries that it has not taken over. */
  report() {
    return { name: this.name, entries: this.entries.map(([number, verdict, ids]) => [number, verdict, ids]) };
  }
}
