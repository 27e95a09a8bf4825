/* sources e3635e3453c3c178832b5b1027a4e792dcbef4ceda2e8c45e1572df8dd9715be; made by app/concept_graph/frontend, licences in LICENSES */
var i=globalThis[Symbol.for("cobalance")]??={};function s(r){if(!i[r]){let o={};o.library=new Promise(l=>o.resolve=l),i[r]=o}return i[r]}var e=r=>s(r).library;var b=async r=>(await e("image_grid"))(r);export{b as default};
