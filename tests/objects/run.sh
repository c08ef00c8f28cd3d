#!/usr/bin/env bash
# Runs a command with an object store to itself: SeaweedFS, started for it and stopped after it.
# Usage: tests/objects/run.sh COMMAND [ARGUMENTS]
# WEED names its binary; weed if not given. STONECROP_OBJECTS tells the command where objects go.
set -euo pipefail
weed=${WEED:-weed}
memory=/dev/shm
[ -d "$memory" ] || memory=${TMPDIR:-/tmp}
folder=$(mktemp -d "$memory/stonecrop-objects-XXXXXX")
server=
command=
stop() {
  # All that it started, if it has not ended by itself.
  [ -z "$command" ] || kill -- -"$command" 2>/dev/null || true
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || true
    for _ in $(seq 30); do
      kill -0 "$server" 2>/dev/null || break
      sleep 0.1
    done
    kill -9 "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Ports that are free now. Each has a second one, 10,000 above, for calls within SeaweedFS.
read -r master volume filer s3 <<<"$(python3 - <<'PYTHON'
import random, socket

def is_free(port):
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True

ports = []
while len(ports) < 4:
    port = random.randrange(20000, 32000)
    if port not in ports and is_free(port) and is_free(port + 10000):
        ports.append(port)
print(*ports)
PYTHON
)"
cat >"$folder/s3.json" <<'JSON'
{"identities": [{"name": "test", "credentials": [{"accessKey": "test", "secretKey": "secret"}],
  "actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}
JSON
mkdir "$folder/data"
"$weed" server -dir="$folder/data" -ip=127.0.0.1 -ip.bind=127.0.0.1 -master.port="$master" \
  -volume.port="$volume" -volume.max=250 -master.volumeSizeLimitMB=64 -filer -filer.port="$filer" \
  -s3 -s3.port="$s3" -s3.port.iceberg=0 -s3.port.lance=0 -s3.config="$folder/s3.json" \
  >"$folder/log" 2>&1 &
server=$!

# A bucket is a folder of the filer. It can be used once something can be written to it.
ready=
bucket=http://127.0.0.1:$filer/buckets/stonecrop
export NO_PROXY=127.0.0.1
for _ in $(seq 300); do
  kill -0 "$server" 2>/dev/null || break
  if curl --silent --fail --output /dev/null --form file=ready "$bucket/ready" &&
    curl --silent --output /dev/null "http://127.0.0.1:$s3/"; then
    ready=yes
    break
  fi
  sleep 0.1
done
[ -n "$ready" ] || { echo "SeaweedFS did not start:"; tail -20 "$folder/log"; exit 1; }

export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=secret AWS_REGION=us-east-1
export STONECROP_OBJECTS="s3://stonecrop/tests?endpoint=http://127.0.0.1:$s3"
# As a group of its own, beside this script, which hears of signals at once.
set -m
"$@" &
command=$!
set +m
wait "$command"
