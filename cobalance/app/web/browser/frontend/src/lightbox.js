/** One image over the page, as large as the window: its own pixels as soon as they are there. */

import { element, iconButton } from "./dom.js";

const ICONS = {
  previous: ["Previous image", "M10 3 5 8l5 5"],
  next: ["Next image", "m6 3 5 5-5 5"],
  overlay: ["Boxes and outlines (B)", "M3 3h10v10H3z"],
  close: ["Close", "m4 4 8 8m0-8-8 8"],
};

const SMALL_PX = 320; // an image below that is magnified, each of its pixels alike
const MAGNIFIED_PX = 640;

export class Lightbox {
  /**
   * @param {{open(index: number | null): void, overlay(on: boolean): void, closed(index: number): void}} asks
   *   What it asks the page for: an image, or none; boxes or none; and that it was closed.
   */
  constructor(asks) {
    this.asks = asks;
    this.images = [];
    this.index = null; // of the image that is open
    this.awaited = false; // has Python yet to answer what was asked last?
    this.overlay = true;
    this.original = null; // Python's: {id, src, drawn, caption}
    this.buttons = Object.fromEntries(Object.entries(ICONS).map(([name, [label, path]]) => [name, iconButton(label, path)]));
    this.picture = element("img");
    this.picture.addEventListener("load", () => this.magnify());
    this.title = element("strong", { dir: "auto" });
    this.caption = element("span", { dir: "auto" });
    this.count = element("span", { className: "count", attributes: { role: "status" } });
    this.dialog = element("dialog", { className: "lightbox", attributes: { "aria-label": "Image" } }, [
      element("header", {}, [
        element("p", {}, [this.title, " ", this.caption]),
        this.count,
        ...Object.values(this.buttons),
      ]),
      element("div", { className: "picture" }, [this.picture]),
    ]);
    this.buttons.previous.addEventListener("click", () => this.step(-1));
    this.buttons.next.addEventListener("click", () => this.step(1));
    this.buttons.overlay.addEventListener("click", () => this.toggle());
    this.buttons.close.addEventListener("click", () => this.dialog.close());
    this.dialog.addEventListener("click", ({ target }) => target === this.dialog && this.dialog.close());
    this.dialog.addEventListener("close", () => this.closed());
    this.dialog.addEventListener("keydown", (event) => this.key(event));
  }

  /** Take over what Python sends; an answer that a newer question has overtaken opens nothing. */
  update(images, original, overlay) {
    this.images = images;
    this.overlay = overlay;
    this.original = original;
    const index = original ? images.findIndex((image) => image.id === original.id) : -1;
    const found = index < 0 ? null : index;
    if (this.awaited && found !== this.index) return;
    this.awaited = false;
    this.index = found;
    if (found === null) this.dialog.close();
    else this.draw();
  }

  /** Show an image by its place in the grid, and ask for its own pixels. */
  open(index) {
    if (index === this.index) return;
    this.index = index;
    this.awaited = true;
    this.draw();
    this.asks.open(index);
  }

  step(by) {
    const to = this.index + by;
    if (to >= 0 && to < this.images.length) this.open(to);
  }

  toggle() {
    this.overlay = !this.overlay;
    this.draw();
    this.asks.overlay(this.overlay);
  }

  key(event) {
    if (event.key === "Escape") event.stopPropagation(); // it closes this alone, not what lies under it
    const acts = {
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      b: () => this.toggle(),
    }[event.key];
    if (!acts || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    acts();
  }

  closed() {
    if (this.index === null) return; // Python has closed it
    const { index } = this;
    this.index = null;
    this.awaited = true;
    this.asks.closed(index);
    this.asks.open(null);
  }

  /** Show the pixels of a small image, which would be a stamp in the window. */
  magnify() {
    const { naturalWidth: width, naturalHeight: height } = this.picture;
    const longer = Math.max(width, height);
    const isSmall = longer < SMALL_PX;
    this.picture.classList.toggle("small", isSmall);
    this.picture.style.width = isSmall ? `${width * Math.floor(MAGNIFIED_PX / longer)}px` : "";
  }

  draw() {
    const small = this.images[this.index];
    const own = this.original?.id === small.id ? this.original : null;
    const { src, drawn } = own ?? small;
    const wanted = (this.overlay && drawn) || src;
    if (this.picture.getAttribute("src") !== wanted) this.picture.src = wanted;
    this.picture.alt = small.alt;
    this.dialog.style.setProperty("--aspect", small.aspect);
    this.dialog.classList.toggle("waiting", !own);
    this.title.textContent = small.id;
    this.caption.textContent = own?.caption ?? "";
    this.count.textContent = `${this.index + 1} of ${this.images.length}`;
    this.buttons.previous.disabled = this.index === 0;
    this.buttons.next.disabled = this.index === this.images.length - 1;
    this.buttons.overlay.hidden = !small.drawn;
    this.buttons.overlay.setAttribute("aria-pressed", String(this.overlay));
    if (!this.dialog.open) this.dialog.showModal();
  }
}
