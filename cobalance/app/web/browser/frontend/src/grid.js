/** Images in rows of one height, of which each opens in a lightbox over the page. */

import { neighbour } from "./cells.js";
import { element } from "./dom.js";
import css from "./grid.css";
import { Lightbox } from "./lightbox.js";

const NARROWEST = 0.5; // width to height of a cell; what is beyond is shown smaller
const WIDEST = 2.4;

export class ImageGrid {
  /** @param {ParentNode & Node} parent */
  constructor(parent) {
    this.cells = [];
    this.shown = ""; // the images that are drawn, as JSON
    this.ids = ""; // their ids
    this.focused = 0;
    this.list = element("div", { className: "cells", attributes: { role: "group" } });
    this.lightbox = new Lightbox({
      open: (index) => this.ask(index === null ? null : this.images[index].id),
      overlay: (overlay) => this.host.setTriggerValue("overlay", { on: overlay }),
      closed: (index) => this.focus(index),
    });
    this.root = element("div", { className: "image-grid", attributes: { "data-testid": "image-grid" } }, [
      element("style", { textContent: css }),
      this.list,
      this.lightbox.dialog,
    ]);
    this.list.addEventListener("keydown", (event) => this.move(event));
    this.list.addEventListener("focusin", ({ target }) => this.reach(this.cells.indexOf(target)));
    parent.append(this.root);
  }

  isAttached() {
    return this.root.isConnected;
  }

  destroy() {
    this.root.remove();
  }

  /** Take over what Python sends. */
  update(host) {
    this.host = host;
    const { images, opened, overlay, row_px, label } = host.data;
    this.images = images;
    this.list.setAttribute("aria-label", label);
    this.root.style.setProperty("--row", `${row_px}px`);
    this.root.classList.toggle("with-overlay", overlay);
    const drawn = JSON.stringify([images, overlay]);
    if (drawn !== this.shown) {
      this.shown = drawn;
      this.replace(images, overlay);
    }
    this.lightbox.update(images, opened, overlay);
  }

  /** Draw the images anew; of the same ones, the keyboard stays where it is. */
  replace(images, overlay) {
    const hadFocus = this.list.contains(this.list.getRootNode().activeElement);
    const ids = JSON.stringify(images.map(({ id }) => id));
    const before = this.ids && JSON.parse(this.ids)[this.focused];
    this.focused = Math.max(0, images.findIndex(({ id }) => id === before));
    this.ids = ids;
    this.cells = images.map((image, index) => this.cell(image, index, overlay));
    this.list.replaceChildren(...this.cells);
    if (hadFocus) this.focus(this.focused);
  }

  cell(image, index, overlay) {
    const picture = element("img", {
      loading: "lazy",
      decoding: "async",
      alt: image.alt,
      src: overlay && image.drawn ? image.drawn : image.src,
    });
    const button = element("button", { type: "button", tabIndex: index === this.focused ? 0 : -1, title: image.id }, [picture]);
    button.style.setProperty("--aspect", Math.max(NARROWEST, Math.min(WIDEST, image.aspect)));
    button.addEventListener("click", () => {
      this.focus(index);
      if (this.host.data.has_lightbox === false) this.ask(image.id);
      else this.lightbox.open(index);
    });
    return button;
  }

  focus(index) {
    this.cells[Math.min(index, this.cells.length - 1)]?.focus();
  }

  /** The keyboard is on a cell, which is the one that Tab comes back to. */
  reach(index) {
    this.cells[this.focused].tabIndex = -1;
    this.focused = index;
    this.cells[index].tabIndex = 0;
  }

  move(event) {
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const boxes = this.cells.map((cell) => cell.getBoundingClientRect());
    this.focus(neighbour(event.key, this.focused, boxes));
  }

  ask(id) {
    this.host.setTriggerValue("asked", { id });
  }
}
