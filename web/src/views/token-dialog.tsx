import { useState, useSyncExternalStore } from "react";
import { giveToken, onTokenWanted, token, tokenWanted } from "../api/token";
import { Dialog } from "../components/dialog";

/** Asks for a token when the server wants one. */
export function TokenDialog() {
  const wanted = useSyncExternalStore(onTokenWanted, tokenWanted);
  const [text, setText] = useState("");
  if (!wanted) return null;
  return (
    <Dialog title="This server wants a token">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") giveToken(text.trim());
          setText("");
        }}
      >
        {token() !== null && <p className="problem">The server did not take that token.</p>}
        <label>
          Token
          <input
            type="password"
            autoComplete="off"
            autoFocus
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        <p className="dim">It stays in this tab, and is forgotten when the tab is closed.</p>
        <div className="dialog-foot">
          <button type="submit" className="primary" disabled={text.trim() === ""}>
            Go on
          </button>
        </div>
      </form>
    </Dialog>
  );
}
