/**
 * Where the two components of a page meet. Streamlit sends a component's JavaScript again with
 * every change of its data, so the half megabyte that draws is a component without data, which
 * the browser keeps, and what is sent with each picture only looks it up here.
 */

const NAME = Symbol.for("cobalance.concept_graph");

function slot() {
  if (!globalThis[NAME]) {
    const made = {};
    made.library = new Promise((resolve) => (made.resolve = resolve));
    globalThis[NAME] = made;
  }
  return globalThis[NAME];
}

/** What was provided, as soon as it is. */
export const library = () => slot().library;

/** Provide it; after an upgrade of the server a newer one takes the place of an older. */
export function provide(mount) {
  slot().resolve(mount);
  slot().library = Promise.resolve(mount);
}
