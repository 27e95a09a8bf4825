/* sources bffc78c1f5f9652be4b784b96ea5ee22c335ebfb3d2c00210703e3b27e5702c5; made by app/concept_graph/frontend, licences in LICENSES */
var e=globalThis[Symbol.for("cobalance")]??={};function t(r){if(!e[r]){let o={};o.library=new Promise(l=>o.resolve=l),e[r]=o}return e[r]}var i=r=>t(r).library;var c=async r=>(await i("cypher_editor"))(r);export{c as default};
