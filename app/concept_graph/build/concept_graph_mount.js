/* sources 8dd8cec14cb6feea164c85eb15b960ce2a73b827a375d232727316aa54aed69a; made by app/concept_graph/frontend, licences in LICENSES */
var e=globalThis[Symbol.for("cobalance")]??={};function t(r){if(!e[r]){let o={};o.library=new Promise(i=>o.resolve=i),e[r]=o}return e[r]}var l=r=>t(r).library;var c=async r=>(await l("concept_graph"))(r);export{c as default};
