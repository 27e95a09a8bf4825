/** The review grid's component without data: provides what draws. */

import { mounting } from "./lifecycle.js";
import { ReviewGrid } from "./review.js";
import { provide } from "./slot.js";

const mount = mounting(ReviewGrid);

export default () => provide("review_grid", mount);
