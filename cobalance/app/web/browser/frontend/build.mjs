/** Bundles src/ into ../build/, and names the state of the sources in each file's first line. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { build, transform } from "esbuild";

process.chdir(import.meta.dirname);

/** SHA-256 over the name and content of every source, as tests/app/web/browser/test_concept_graph.py does. */
function sourcesHash() {
  const sources = ["build.mjs", "package-lock.json", "package.json", ...readdirSync("src").map((name) => `src/${name}`)];
  const hash = createHash("sha256");
  for (const name of sources.sort()) hash.update(`${name}\0`).update(readFileSync(name)).update("\0");
  return hash.digest("hex");
}

const minifiedCss = {
  name: "minified-css",
  setup(bundler) {
    bundler.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, "utf8"), { loader: "css", minify: true });
      return { contents: code, loader: "text" };
    });
  },
};

await build({
  entryPoints: ["concept_graph", "cypher_editor", "image_grid", "review_grid"].flatMap((name) => [`src/${name}.js`, `src/${name}_mount.js`]),
  outdir: "../build",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none", // they are in ../build/LICENSES
  plugins: [minifiedCss],
  banner: { js: `/* sources ${sourcesHash()}; made by app/web/browser/frontend, licences in LICENSES */` },
  logLevel: "info",
});
