/* sources a3e0f5541c78706794ac721146a3491d0bc7efa20a8c88b6c476f3a01bf41d6e; made by app/concept_graph/frontend, licences in LICENSES */
var e=globalThis[Symbol.for("cobalance")]??={};function s(r){if(!e[r]){let o={};o.library=new Promise(l=>o.resolve=l),e[r]=o}return e[r]}var i=r=>s(r).library;var b=async r=>(await i("review_grid"))(r);export{b as default};
