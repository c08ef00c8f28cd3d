#!/usr/bin/env bash
# Schemathesis against a running server: every answer must be what the server's own description
# says. Usage: tests/api/run.sh BINARY EXAMPLES
set -euo pipefail
binary=$(realpath "$1")
examples=${2:-25}
cd "$(dirname "$0")"
folder=$(mktemp -d)
"$binary" serve memory: --listen 127.0.0.1:0 >"$folder/out" 2>"$folder/err" &
server=$!
trap 'kill $server 2>/dev/null || true; wait $server 2>/dev/null || true; rm -rf "$folder"' EXIT
address=
for _ in $(seq 100); do
  address=$(sed -n 's|.* at \(http://.*\)|\1|p' "$folder/out")
  [ -n "$address" ] && break
  sleep 0.1
done
[ -n "$address" ] || { echo "the server did not start:"; cat "$folder/err"; exit 1; }
# A table that made-up requests can meet.
curl --silent --fail --output /dev/null -H 'content-type: application/json' "$address/v1/tables" -d '{
  "name": "accounts", "partition_key": "id string",
  "families": [{"name": "crm", "columns": [{"name": "name"}, {"name": "score", "type": "int"}],
    "ttl": "1m", "history": {"versions": 3}}],
  "indexes": [{"name": "by_score", "columns": "score i64 desc"}]}'
SCHEMATHESIS_HOOKS=hooks PYTHONPATH=. schemathesis run "$address/v1/openapi.json" --url "$address" \
  --max-examples "$examples" --seed 1 --request-timeout 20 --suppress-health-check all
curl --silent --fail "$address/health/ready"
