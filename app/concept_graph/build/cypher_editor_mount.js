/* sources 543e1cffebc16c5fa0e1e7c3479be5b957de55a0aa03709c740bfbe115a8561c; made by app/concept_graph/frontend, licences in LICENSES */
var e=globalThis[Symbol.for("cobalance")]??={};function t(r){if(!e[r]){let o={};o.library=new Promise(l=>o.resolve=l),e[r]=o}return e[r]}var i=r=>t(r).library;var c=async r=>(await i("cypher_editor"))(r);export{c as default};
