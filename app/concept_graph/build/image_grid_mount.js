/* sources 8dd8cec14cb6feea164c85eb15b960ce2a73b827a375d232727316aa54aed69a; made by app/concept_graph/frontend, licences in LICENSES */
var i=globalThis[Symbol.for("cobalance")]??={};function s(r){if(!i[r]){let o={};o.library=new Promise(l=>o.resolve=l),i[r]=o}return i[r]}var e=r=>s(r).library;var b=async r=>(await e("image_grid"))(r);export{b as default};
