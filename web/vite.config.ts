import react from "@vitejs/plugin-react";
import { type Plugin, defineConfig, loadEnv } from "vite";

// Where `vite dev` finds a server: STONECROP_URL, or the address that `stonecrop serve` has by default.
const server = loadEnv("", ".", "STONECROP_").STONECROP_URL ?? "http://127.0.0.1:8321";

const ABSENT =
  /\.ag-(rtl|icon|advanced|filter|watermark|charts?|toolbar|rich|side|paging|picker|select|formula|radio|menu|spectrum|calculated|set|autocomplete|notes|tool|file|pill|color|angle|status|toggle|checkbox|pivot|date|multi|mini|list|color|slider|virtual|group-component|column-drop|column-select|column-panel|find|loading)(?![a-z])/;

/** AG Grid's style sheet is for all of its parts; rules for those that the grid does not use are left out. */
function onlyWhatIsUsed(): Plugin {
  return {
    name: "only-what-is-used",
    enforce: "pre",
    transform(code, id) {
      if (!id.includes("ag-grid-community/styles/ag-grid.css")) return undefined;
      return code.replace(/([^{}@;]+)\{([^{}]*)\}/g, (rule, selectors: string, body: string) => {
        // A comma within parentheses is no end of a selector: such rules stay as they are.
        if (selectors.includes("(") || !selectors.includes(".ag-")) return rule;
        const kept = selectors.split(",").filter((selector) => !ABSENT.test(selector));
        return kept.length === 0 ? "" : `${kept.join(",")}{${body}}`;
      });
    },
  };
}

export default defineConfig({
  plugins: [onlyWhatIsUsed(), react()],
  build: {
    target: "es2022",
    // No data: addresses and no inline scripts: the server's Content-Security-Policy is strict.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // AG Grid is one piece of most of a megabyte, and on loopback.
    chunkSizeWarningLimit: 900,
  },
  server: { proxy: { "/v1": server } },
  preview: { proxy: { "/v1": server } },
});
