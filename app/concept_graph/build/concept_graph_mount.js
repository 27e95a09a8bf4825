/* sources e3635e3453c3c178832b5b1027a4e792dcbef4ceda2e8c45e1572df8dd9715be; made by app/concept_graph/frontend, licences in LICENSES */
var e=globalThis[Symbol.for("cobalance")]??={};function t(r){if(!e[r]){let o={};o.library=new Promise(i=>o.resolve=i),e[r]=o}return e[r]}var l=r=>t(r).library;var c=async r=>(await l("concept_graph"))(r);export{c as default};
