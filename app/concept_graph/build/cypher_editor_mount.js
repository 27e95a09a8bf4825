/* sources 3ba8a98e56acca3133edf2b71584a90387306d3e5c94cb4f5585f626b108bfc5; made by app/concept_graph/frontend, licences in LICENSES */
var e=globalThis[Symbol.for("cobalance")]??={};function t(r){if(!e[r]){let o={};o.library=new Promise(l=>o.resolve=l),e[r]=o}return e[r]}var i=r=>t(r).library;var c=async r=>(await i("cypher_editor"))(r);export{c as default};
