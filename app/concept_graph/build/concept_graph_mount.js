/* sources bffc78c1f5f9652be4b784b96ea5ee22c335ebfb3d2c00210703e3b27e5702c5; made by app/concept_graph/frontend, licences in LICENSES */
var e=globalThis[Symbol.for("cobalance")]??={};function t(r){if(!e[r]){let o={};o.library=new Promise(i=>o.resolve=i),e[r]=o}return e[r]}var l=r=>t(r).library;var c=async r=>(await l("concept_graph"))(r);export{c as default};
