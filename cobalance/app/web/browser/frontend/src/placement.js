/** Geometry: from Python's positions to the room there is, and labels that do not overlap. */

/**
 * Scale and offset along one axis that use all the room from `start` to `end`.
 *
 * @param {{at: number, before: number, after: number}[]} items where each lies, and how far it
 *     reaches to either side, in screen pixels
 * @param {number} start
 * @param {number} end
 * @param {number} maxScale
 * @returns {{scale: number, offset: number}} a position `at` goes to `at * scale + offset`
 */
export function fitAxis(items, start, end, maxScale) {
  const lowest = (scale) => Math.max(...items.map((i) => start + i.before - i.at * scale));
  const highest = (scale) => Math.min(...items.map((i) => end - i.after - i.at * scale));
  const fits = (scale) => lowest(scale) <= highest(scale);
  let scale = maxScale;
  if (!fits(scale)) {
    let none = scale;
    scale = 0;
    for (let round = 0; round < 40; round += 1) {
      const middle = (scale + none) / 2;
      if (fits(middle)) scale = middle;
      else none = middle;
    }
  }
  if (scale === 0 && !fits(0)) {
    // Wider than the room whatever the scale: spread the centres, and let the ends stick out.
    const at = items.map((item) => item.at);
    const span = Math.max(...at) - Math.min(...at);
    scale = span > 0 ? Math.max(1, end - start) / (2 * span) : 0;
  }
  return { scale, offset: (lowest(scale) + highest(scale)) / 2 };
}

/** @typedef {{left: number, top: number, right: number, bottom: number}} Box */

/** @param {Box} a @param {Box} b */
export const overlaps = (a, b) =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

export const SIDES = ["bottom", "top", "right", "left"];

/** Where the label of a disc lies on one of its sides. */
export function labelBox({ x, y, radius, width, height }, side, gap) {
  const centre = { left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 };
  switch (side) {
    case "top":
      return { ...centre, top: y - radius - gap - height, bottom: y - radius - gap };
    case "right":
      return { ...centre, left: x + radius + gap, right: x + radius + gap + width };
    case "left":
      return { ...centre, left: x - radius - gap - width, right: x - radius - gap };
    default:
      return { ...centre, top: y + radius + gap, bottom: y + radius + gap + height };
  }
}

/**
 * The side of its node that each label goes to, or null where it would cover another.
 *
 * Greedy: the first labels choose first, so the caller gives the important ones first.
 *
 * @param {{x: number, y: number, radius: number, width: number, height: number,
 *     always: boolean}[]} discs
 * @param {Box[]} taken boxes that no label may cover
 * @param {Box | null} bounds what labels may not leave
 * @param {number} gap between a disc and its label
 */
export function placeLabels(discs, taken, bounds, gap) {
  const grid = new Grid(64);
  taken.forEach((box) => grid.add(box, -1));
  discs.forEach(({ x, y, radius }, owner) =>
    grid.add({ left: x - radius, right: x + radius, top: y - radius, bottom: y + radius }, owner),
  );
  const inside = (box) =>
    !bounds ||
    (box.left >= bounds.left && box.right <= bounds.right && box.top >= bounds.top && box.bottom <= bounds.bottom);
  return discs.map((disc, owner) => {
    const side = SIDES.find((candidate) => {
      const box = labelBox(disc, candidate, gap);
      return inside(box) && grid.isFree(box, owner);
    });
    if (!side && !disc.always) return null;
    const within = SIDES.find((candidate) => inside(labelBox(disc, candidate, gap)));
    const chosen = side ?? within ?? SIDES[0];
    grid.add(labelBox(disc, chosen, gap), -1);
    return chosen;
  });
}

/** Boxes by the cells that they touch, so that one is compared with its neighbours alone. */
class Grid {
  constructor(cell) {
    this.cell = cell;
    this.cells = new Map();
  }

  *touched(box) {
    const index = (value) => Math.floor(value / this.cell);
    for (let column = index(box.left); column <= index(box.right); column += 1)
      for (let row = index(box.top); row <= index(box.bottom); row += 1) yield `${column},${row}`;
  }

  add(box, owner) {
    for (const name of this.touched(box)) {
      if (!this.cells.has(name)) this.cells.set(name, []);
      this.cells.get(name).push({ box, owner });
    }
  }

  isFree(box, owner) {
    for (const name of this.touched(box))
      for (const other of this.cells.get(name) ?? [])
        if (other.owner !== owner && overlaps(box, other.box)) return false;
    return true;
  }
}

/**
 * The nearest point in a direction: within 60° of it, sideways counting double.
 * @template {{x: number, y: number}} Point
 * @param {Point} from
 * @param {Point[]} others
 * @param {{x: number, y: number}} direction a unit vector
 * @returns {Point | null}
 */
export function nearestTowards(from, others, direction) {
  let best = null;
  let least = Infinity;
  for (const other of others) {
    const [dx, dy] = [other.x - from.x, other.y - from.y];
    const ahead = dx * direction.x + dy * direction.y;
    const aside = Math.abs(dx * direction.y - dy * direction.x);
    if (ahead <= 0.5 || aside > ahead * Math.sqrt(3)) continue;
    const cost = ahead + 2 * aside;
    if (cost < least) [best, least] = [other, cost];
  }
  return best;
}
