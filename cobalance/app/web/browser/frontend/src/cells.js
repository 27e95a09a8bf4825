/** Where keys lead among cells in rows. */

/**
 * The index of the cell that an arrow key leads to, and the same one at an edge.
 *
 * @param {"ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown"} key
 * @param {number} index of the cell that the keyboard is on
 * @param {{left: number, top: number, width: number}[]} boxes of all cells, in their order
 */
export function neighbour(key, index, boxes) {
  if (key === "ArrowLeft") return Math.max(0, index - 1);
  if (key === "ArrowRight") return Math.min(boxes.length - 1, index + 1);
  const at = boxes[index];
  const rows = boxes.map((box) => box.top).filter((top) => (key === "ArrowDown" ? top > at.top : top < at.top));
  if (!rows.length) return index;
  const row = key === "ArrowDown" ? Math.min(...rows) : Math.max(...rows);
  const middle = (box) => box.left + box.width / 2;
  const distance = (i) => Math.abs(middle(boxes[i]) - middle(at));
  const cells = boxes.flatMap((box, i) => (box.top === row ? [i] : []));
  return cells.reduce((best, i) => (distance(i) < distance(best) ? i : best));
}
