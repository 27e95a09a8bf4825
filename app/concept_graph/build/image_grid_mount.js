/* sources 24fc0dac88c3605014053394ebc91408c8aee050e3b8a081270c466c1a54ac53; made by app/concept_graph/frontend, licences in LICENSES */
var i=globalThis[Symbol.for("cobalance")]??={};function s(r){if(!i[r]){let o={};o.library=new Promise(l=>o.resolve=l),i[r]=o}return i[r]}var e=r=>s(r).library;var b=async r=>(await e("image_grid"))(r);export{b as default};
