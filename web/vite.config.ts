import react from "@vitejs/plugin-react";
import { defineConfig, loadEnv } from "vite";

// Where `vite dev` finds a server: STONECROP_URL, or the address that `stonecrop serve` has by default.
const server = loadEnv("", ".", "STONECROP_").STONECROP_URL ?? "http://127.0.0.1:8321";

export default defineConfig({
  plugins: [react()],
  build: {
    target: "es2022",
    // No data: addresses and no inline scripts: the server's Content-Security-Policy is strict.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/v1": server } },
  preview: { proxy: { "/v1": server } },
});
