/* sources 24fc0dac88c3605014053394ebc91408c8aee050e3b8a081270c466c1a54ac53; made by app/concept_graph/frontend, licences in LICENSES */
var e=globalThis[Symbol.for("cobalance")]??={};function s(r){if(!e[r]){let o={};o.library=new Promise(l=>o.resolve=l),e[r]=o}return e[r]}var i=r=>s(r).library;var b=async r=>(await i("review_grid"))(r);export{b as default};
