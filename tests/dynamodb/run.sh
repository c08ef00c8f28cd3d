#!/usr/bin/env bash
# The DynamoDB suite against a server started for it.
# Usage: tests/dynamodb/run.sh BINARY [PYTEST ARGUMENTS]
# PYTHON names the Python that has requirements.txt installed; python3 if not given.
# With OBJECTS=1 the database is on object storage (SlateDB in a folder), in one shard.
set -euo pipefail
binary=$(realpath "$1")
shift
cd "$(dirname "$0")"
folder=$(mktemp -d)
location=("$folder/data")
[ -z "${OBJECTS:-}" ] ||
  location=("file://$folder/data?engine=slatedb" --shards 1 --flush-interval 1ms)
"$binary" serve "${location[@]}" --listen 127.0.0.1:0 --cors-origin https://example.com \
  >"$folder/out" 2>"$folder/err" &
server=$!
trap 'kill $server 2>/dev/null || true; wait $server 2>/dev/null || true; rm -rf "$folder"' EXIT
address=
for _ in $(seq 100); do
  address=$(sed -n 's|.* at \(http://[^ ]*\).*|\1|p' "$folder/out" | head -1)
  [ -n "$address" ] && break
  kill -0 $server 2>/dev/null || break
  sleep 0.1
done
[ -n "$address" ] || { echo "the server did not start:"; cat "$folder/err"; exit 1; }
STONECROP_URL=$address STONECROP_BIN=$binary PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" -m pytest "$@"
