/* sources e3d3577ed38c5f832a498e87d3e4758c33c6233e95635446d770de74a1e8a453; made by app/concept_graph/frontend, licences in LICENSES */
var o=Symbol.for("cobalance.concept_graph");function a(){if(!globalThis[o]){let r={};r.library=new Promise(l=>r.resolve=l),globalThis[o]=r}return globalThis[o]}var e=()=>a().library;var t=async r=>(await e())(r);export{t as default};
