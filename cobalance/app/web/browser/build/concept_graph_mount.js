/* sources 74c21ab0e286d09ef4271f69dfae5167a3dd6f9f48e25e400216448a3e4e0dda; made by app/web/browser/frontend, licences in LICENSES */
var e=globalThis[Symbol.for("cobalance")]??={};function t(r){if(!e[r]){let o={};o.library=new Promise(i=>o.resolve=i),e[r]=o}return e[r]}var l=r=>t(r).library;var c=async r=>(await l("concept_graph"))(r);export{c as default};
