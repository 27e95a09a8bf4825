/* sources 24fc0dac88c3605014053394ebc91408c8aee050e3b8a081270c466c1a54ac53; made by app/concept_graph/frontend, licences in LICENSES */
var e=globalThis[Symbol.for("cobalance")]??={};function t(r){if(!e[r]){let o={};o.library=new Promise(i=>o.resolve=i),e[r]=o}return e[r]}var l=r=>t(r).library;var c=async r=>(await l("concept_graph"))(r);export{c as default};
