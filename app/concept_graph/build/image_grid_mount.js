/* sources bffc78c1f5f9652be4b784b96ea5ee22c335ebfb3d2c00210703e3b27e5702c5; made by app/concept_graph/frontend, licences in LICENSES */
var i=globalThis[Symbol.for("cobalance")]??={};function s(r){if(!i[r]){let o={};o.library=new Promise(l=>o.resolve=l),i[r]=o}return i[r]}var e=r=>s(r).library;var b=async r=>(await e("image_grid"))(r);export{b as default};
