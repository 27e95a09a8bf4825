/**
 * The component as Streamlit calls it: once at first, and again whenever its data or the theme
 * changes. One graph lives as long as its place in the page does.
 */

import { ConceptGraph } from "./graph.js";

const mounted = new WeakMap();

export function mount(host) {
  const { parentElement } = host;
  let place = mounted.get(parentElement);
  if (!place || !place.graph.isAttached()) {
    place?.graph.destroy();
    place = { graph: new ConceptGraph(parentElement), calls: 0 };
    mounted.set(parentElement, place);
  }
  place.calls += 1;
  const call = place.calls;
  place.graph.update(host);
  return () => {
    // Streamlit also runs the clean-up of a call that a newer one overtook: that one is not the end.
    if (place.calls !== call) return;
    place.graph.destroy();
    mounted.delete(parentElement);
  };
}
