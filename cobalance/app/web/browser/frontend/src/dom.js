/** Elements of a page. Texts are set as text, never as HTML. */

export function element(tag, properties = {}, children = []) {
  const { attributes = {}, ...rest } = properties;
  const created = Object.assign(document.createElement(tag), rest);
  Object.entries(attributes).forEach(([name, value]) => created.setAttribute(name, value));
  created.append(...children);
  return created;
}

export function icon(path) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

export const hidden = (properties) => element("div", { className: "visually-hidden", ...properties });

/** A button that shows an icon, with its name for screen readers and as a tooltip. */
export const iconButton = (label, path, properties = {}) =>
  element("button", { type: "button", title: label, ...properties, attributes: { "aria-label": label } }, [icon(path)]);
