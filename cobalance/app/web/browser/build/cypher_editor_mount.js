/* sources 74c21ab0e286d09ef4271f69dfae5167a3dd6f9f48e25e400216448a3e4e0dda; made by app/web/browser/frontend, licences in LICENSES */
var e=globalThis[Symbol.for("cobalance")]??={};function t(r){if(!e[r]){let o={};o.library=new Promise(l=>o.resolve=l),e[r]=o}return e[r]}var i=r=>t(r).library;var c=async r=>(await i("cypher_editor"))(r);export{c as default};
