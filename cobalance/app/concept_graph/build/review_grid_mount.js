/* sources 8d167fcf4730112cae45e2907999d838cc760d7f42197157e4c73370b253abf2; made by app/concept_graph/frontend, licences in LICENSES */
var e=globalThis[Symbol.for("cobalance")]??={};function s(r){if(!e[r]){let o={};o.library=new Promise(l=>o.resolve=l),e[r]=o}return e[r]}var i=r=>s(r).library;var b=async r=>(await i("review_grid"))(r);export{b as default};
