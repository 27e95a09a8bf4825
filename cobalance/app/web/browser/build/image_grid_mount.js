/* sources 74c21ab0e286d09ef4271f69dfae5167a3dd6f9f48e25e400216448a3e4e0dda; made by app/web/browser/frontend, licences in LICENSES */
var i=globalThis[Symbol.for("cobalance")]??={};function s(r){if(!i[r]){let o={};o.library=new Promise(l=>o.resolve=l),i[r]=o}return i[r]}var e=r=>s(r).library;var b=async r=>(await e("image_grid"))(r);export{b as default};
