/**
 * Components as Streamlit calls them: once at first, and again whenever their data or the theme
 * change. What draws lives as long as its place in the page does.
 */

/**
 * @template {{update(host: object): void, isAttached(): boolean, destroy(): void}} Part
 * @param {new (parent: ParentNode & Node) => Part} Part
 */
export function mounting(Part) {
  const mounted = new WeakMap();
  return (host) => {
    const { parentElement } = host;
    let place = mounted.get(parentElement);
    if (!place || !place.part.isAttached()) {
      place?.part.destroy();
      place = { part: new Part(parentElement), calls: 0 };
      mounted.set(parentElement, place);
    }
    place.calls += 1;
    const call = place.calls;
    place.part.update(host);
    return () => {
      // Streamlit also runs the clean-up of a call that a newer one overtook: that one is not the end.
      if (place.calls !== call) return;
      place.part.destroy();
      mounted.delete(parentElement);
    };
  };
}
