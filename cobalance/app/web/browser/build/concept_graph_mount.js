/* sources 8db7d7b0c61d69b90c6f316e3f130b5ba5a80e9f1010dd53cc377676eeff6376; made by app/web/browser/frontend, licences in LICENSES */
var e=globalThis[Symbol.for("cobalance")]??={};function t(r){if(!e[r]){let o={};o.library=new Promise(i=>o.resolve=i),e[r]=o}return e[r]}var l=r=>t(r).library;var c=async r=>(await l("concept_graph"))(r);export{c as default};
