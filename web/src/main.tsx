import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/panels.css";
import "./state/theme";
import { createRoot } from "react-dom/client";
import { App } from "./views/app";

createRoot(document.getElementById("root")!).render(<App />);
