/** The image grid's component without data: provides what draws. */

import { ImageGrid } from "./grid.js";
import { mounting } from "./lifecycle.js";
import { provide } from "./slot.js";

const mount = mounting(ImageGrid);

export default () => provide("image_grid", mount);
