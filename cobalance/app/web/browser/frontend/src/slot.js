/**
 * Where the two halves of a component meet. Streamlit sends a component's JavaScript again with
 * every change of its data, so what draws is a component without data, which the browser keeps,
 * and what is sent with the data only looks it up here.
 */

const slots = (globalThis[Symbol.for("cobalance")] ??= {});

function slot(name) {
  if (!slots[name]) {
    const made = {};
    made.library = new Promise((resolve) => (made.resolve = resolve));
    slots[name] = made;
  }
  return slots[name];
}

/** What was provided under this name, as soon as it is. */
export const library = (name) => slot(name).library;

/** Provide it; after an upgrade of the server a newer one takes the place of an older. */
export function provide(name, mount) {
  slot(name).resolve(mount);
  slot(name).library = Promise.resolve(mount);
}
