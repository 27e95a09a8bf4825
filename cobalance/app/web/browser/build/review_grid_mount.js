/* sources 62c6b173cbc9eb82581d391e8dc7c36445f4d1a15cf90a13cd89b822d219a154; made by app/web/browser/frontend, licences in LICENSES */
var e=globalThis[Symbol.for("cobalance")]??={};function s(r){if(!e[r]){let o={};o.library=new Promise(l=>o.resolve=l),e[r]=o}return e[r]}var i=r=>s(r).library;var b=async r=>(await i("review_grid"))(r);export{b as default};
