import { useSyncExternalStore } from "react";
import { connectionState, onConnection } from "../api/client";
import { Icon } from "../components/icons";
import type { Server } from "../state/server";
import { useTheme } from "../state/theme";
import { updateView } from "../state/view";

const WORDS = { connecting: "connecting", online: "connected", offline: "no answer" };
const THEMES = { auto: "as the system", light: "light", dark: "dark" };

export function TopBar({ server, onMenu }: { server: Server; onMenu(): void }) {
  const connection = useSyncExternalStore(onConnection, connectionState);
  const [theme, nextTheme] = useTheme();
  return (
    <header className="top-bar">
      <button type="button" className="quiet only-narrow" onClick={onMenu} aria-label="Tables">
        <Icon name="menu" />
      </button>
      <a className="brand" href="#/" onClick={(event) => event.preventDefault()} aria-label="Stonecrop">
        <img src="/favicon.svg" alt="" width="20" height="20" />
        <span>Stonecrop</span>
      </a>
      <span className={`connection is-${connection}`} role="status">
        <span className="connection-dot" />
        <span className="only-wide">{location.host}</span>
        <span className="connection-word">{WORDS[connection]}</span>
      </span>
      <span className="grow" />
      {server.who !== null && server.who.scope !== "admin" && <span className="badge">{server.who.scope} only</span>}
      <button type="button" className="quiet" onClick={() => updateView({ panel: "keys" })} title="Key designer">
        <Icon name="key" />
        <span className="only-wide">Key designer</span>
      </button>
      <button type="button" className="quiet" onClick={nextTheme} title={`Colours: ${THEMES[theme]}`} aria-label={`Colours: ${THEMES[theme]}`}>
        <Icon name={theme === "light" ? "sun" : theme === "dark" ? "moon" : "auto"} />
      </button>
    </header>
  );
}
