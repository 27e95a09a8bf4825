/** The component without data: provides what draws. */

import { mount } from "./lifecycle.js";
import { provide } from "./slot.js";

export default () => provide(mount);
