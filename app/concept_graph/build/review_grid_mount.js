/* sources d2801e01d3f8ace8814d5d56bd077dcd79d1679213ef73e0e3cc5f507ab9dd97; made by app/concept_graph/frontend, licences in LICENSES */
var e=globalThis[Symbol.for("cobalance")]??={};function s(r){if(!e[r]){let o={};o.library=new Promise(l=>o.resolve=l),e[r]=o}return e[r]}var i=r=>s(r).library;var b=async r=>(await i("review_grid"))(r);export{b as default};
