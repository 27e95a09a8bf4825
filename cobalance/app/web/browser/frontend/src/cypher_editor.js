/** The Cypher editor's component without data: provides what draws. Its words never change. */

import { CypherEditor } from "./editor.js";
import { mounting } from "./lifecycle.js";
import { provide } from "./slot.js";

const mount = mounting(CypherEditor);

export default ({ data }) => {
  CypherEditor.words = data;
  provide("cypher_editor", mount);
};
