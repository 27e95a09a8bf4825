/* sources 8db7d7b0c61d69b90c6f316e3f130b5ba5a80e9f1010dd53cc377676eeff6376; made by app/web/browser/frontend, licences in LICENSES */
var i=globalThis[Symbol.for("cobalance")]??={};function s(r){if(!i[r]){let o={};o.library=new Promise(l=>o.resolve=l),i[r]=o}return i[r]}var e=r=>s(r).library;var b=async r=>(await e("image_grid"))(r);export{b as default};
