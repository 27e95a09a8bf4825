/* sources f397f5620c61340d143f4ba97f45a88e19b78ce883b093ba4b895888a05758e1; made by app/concept_graph/frontend, licences in LICENSES */
var o=Symbol.for("cobalance.concept_graph");function a(){if(!globalThis[o]){let r={};r.library=new Promise(l=>r.resolve=l),globalThis[o]=r}return globalThis[o]}var e=()=>a().library;var t=async r=>(await e())(r);export{t as default};
