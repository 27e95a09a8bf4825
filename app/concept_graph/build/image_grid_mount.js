/* sources 8675985c5596920bf376cb704cc401cb90edfeccffc0e825ac10f5b0e4040a23; made by app/concept_graph/frontend, licences in LICENSES */
var i=globalThis[Symbol.for("cobalance")]??={};function s(r){if(!i[r]){let o={};o.library=new Promise(l=>o.resolve=l),i[r]=o}return i[r]}var e=r=>s(r).library;var b=async r=>(await e("image_grid"))(r);export{b as default};
