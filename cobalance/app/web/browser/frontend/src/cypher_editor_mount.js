/** The component with data: draws as soon as it can. */

import { library } from "./slot.js";

export default async (host) => (await library("cypher_editor"))(host);
