/* sources 0f6d27112279dc33c1473659e9c2447a26f110c4b5d4ca83477a3c9a9e21cd56; made by app/concept_graph/frontend, licences in LICENSES */
var o=Symbol.for("cobalance.concept_graph");function a(){if(!globalThis[o]){let r={};r.library=new Promise(l=>r.resolve=l),globalThis[o]=r}return globalThis[o]}var e=()=>a().library;var t=async r=>(await e())(r);export{t as default};
