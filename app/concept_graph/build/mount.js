/* sources 2228ef6c091ee95f6c043d2b04d6d4229124460644455a5f2e4e2e3402e9d12d; made by app/concept_graph/frontend, licences in LICENSES */
var o=Symbol.for("cobalance.concept_graph");function a(){if(!globalThis[o]){let r={};r.library=new Promise(l=>r.resolve=l),globalThis[o]=r}return globalThis[o]}var e=()=>a().library;var t=async r=>(await e())(r);export{t as default};
