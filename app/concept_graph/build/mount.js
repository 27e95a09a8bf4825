/* sources df60561af50d5e28c7db67c04894852b9f8ffd87e1abc8b2faf2c75839823cdf; made by app/concept_graph/frontend, licences in LICENSES */
var o=Symbol.for("cobalance.concept_graph");function a(){if(!globalThis[o]){let r={};r.library=new Promise(l=>r.resolve=l),globalThis[o]=r}return globalThis[o]}var e=()=>a().library;var t=async r=>(await e())(r);export{t as default};
