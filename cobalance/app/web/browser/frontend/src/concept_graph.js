/** The concept graph's component without data: provides what draws. */

import { ConceptGraph } from "./graph.js";
import { mounting } from "./lifecycle.js";
import { provide } from "./slot.js";

const mount = mounting(ConceptGraph);

export default () => provide("concept_graph", mount);
