/* sources 62c6b173cbc9eb82581d391e8dc7c36445f4d1a15cf90a13cd89b822d219a154; made by app/web/browser/frontend, licences in LICENSES */
var i=globalThis[Symbol.for("cobalance")]??={};function s(r){if(!i[r]){let o={};o.library=new Promise(l=>o.resolve=l),i[r]=o}return i[r]}var e=r=>s(r).library;var b=async r=>(await e("image_grid"))(r);export{b as default};
