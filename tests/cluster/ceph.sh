#!/usr/bin/env bash
# Runs a command with a Ceph to itself, started for it and stopped after it: a monitor, a manager,
# three OSDs, two S3 gateways and HAProxy in front of them, all on loopback.
# Usage: tests/cluster/ceph.sh COMMAND [ARGUMENTS]
# STONECROP_OBJECTS tells the command where objects go. CEPH_PIDS names a file with a line a daemon
# that may be killed (osd.0 to osd.2, rgw.0, rgw.1: name and process), "$CEPH_RESTART" NAME starts
# one of them again, and ceph itself (ceph status) finds the cluster by CEPH_CONF.
set -euo pipefail
for tool in ceph-mon ceph-mgr ceph-osd radosgw ceph haproxy curl; do
  command -v "$tool" >/dev/null || { echo "$tool is missing: make ceph-tools"; exit 1; }
done
memory=/dev/shm
[ -d "$memory" ] || memory=${TMPDIR:-/tmp}
folder=$(mktemp -d "$memory/stonecrop-ceph-XXXXXX")
command=
made=()
stop() {
  # All that it started, if it has not ended by itself.
  [ -z "$command" ] || kill -- -"$command" 2>/dev/null || true
  [ "${#made[@]}" = 0 ] || kill -9 "${made[@]}" 2>/dev/null || true
  # Nothing of theirs is kept, so they need not finish anything. An id may be another's by now.
  while read -r _ pid; do
    ! grep --quiet --text "$folder" "/proc/$pid/cmdline" 2>/dev/null || kill -9 "$pid" || true
  done < <(cat "$folder"/{pids,own-pids} 2>/dev/null)
  for _ in $(seq 30); do
    ! rm -rf "$folder" 2>/dev/null || break
    sleep 0.1
  done
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
failed() {
  echo "Ceph did not start: $1"
  tail -n 3 "$folder"/*.log
  exit 1
}

# Ports that are free now, and that no connection is given while a daemon is down. OSDs and the
# manager look for theirs themselves.
read -r monitor gateway_0 gateway_1 proxy <<<"$(python3 - <<'PYTHON'
import random, socket

def is_free(port):
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True

print(*random.sample([port for port in range(20000, 32000) if is_free(port)], 4))
PYTHON
)"
read -r cluster osd_0 osd_1 osd_2 <<<"$(python3 -c \
  'import uuid; print(*(uuid.uuid4() for _ in range(4)))')"

# Two of three copies are enough to go on. What is lost with a killed process is found at once, and
# what it takes to keep a cluster healthy for months is off.
cat >"$folder/ceph.conf" <<INI
[global]
fsid = $cluster
mon_host = [v2:127.0.0.1:$monitor]
public_network = 127.0.0.0/8
ms_bind_msgr1 = false
keyring = $folder/keyring
osd_crush_chooseleaf_type = 0
osd_pool_default_size = 3
osd_pool_default_min_size = 2
osd_pool_default_pg_num = 8
osd_pool_default_pg_autoscale_mode = off
run_dir = $folder
admin_socket = $folder/\$name.asok
log_file = $folder/\$name.log
log_to_stderr = false
crash_dir = $folder/crash
[mon]
mon_data = $folder/mon.a
mon_data_avail_crit = 1
auth_allow_insecure_global_id_reclaim = false
mon_osd_down_out_interval = 3600
mon_cluster_log_file = $folder/cluster.log
mgr_initial_modules = iostat
[mgr]
mgr_data = $folder/mgr.a
[osd]
osd_data = $folder/osd.\$id
osd_objectstore = bluestore
bluestore_block_size = 8589934592
bluestore_cache_size = 67108864
bluestore_cache_autotune = false
osd_heartbeat_interval = 1
osd_heartbeat_grace = 5
osd_scrub_begin_hour = 0
osd_scrub_end_hour = 0
osd_max_scrubs = 0
[client]
rgw_data = $folder
rgw_thread_pool_size = 64
rgw_dynamic_resharding = false
[client.rgw.0]
rgw_frontends = beast endpoint=127.0.0.1:$gateway_0 tcp_nodelay=1
[client.rgw.1]
rgw_frontends = beast endpoint=127.0.0.1:$gateway_1 tcp_nodelay=1
INI
cat >"$folder/haproxy.cfg" <<CFG
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  option redispatch
  retries 2
frontend s3
  bind 127.0.0.1:$proxy
  default_backend gateways
backend gateways
  balance roundrobin
  server rgw.0 127.0.0.1:$gateway_0 check inter 500ms fall 2 rise 1
  server rgw.1 127.0.0.1:$gateway_1 check inter 500ms fall 2 rise 1
CFG

# Starts a daemon by its name; its process is noted before it is the daemon's. It outlives whoever
# asked for it.
cat >"$folder/start" <<BASH
#!/usr/bin/env bash
set -euo pipefail
cd "$folder"
pids=pids
case \$1 in
  osd.[0-2]) daemon=(ceph-osd -i "\${1#osd.}") ;;
  rgw.[01]) daemon=(radosgw -n "client.\$1") ;;
  mon.a) daemon=(ceph-mon -i a) pids=own-pids ;;
  mgr.a) daemon=(ceph-mgr -i a) pids=own-pids ;;
  haproxy) daemon=(haproxy -db -f "$folder/haproxy.cfg") pids=own-pids ;;
  *) echo "there is no \$1"; exit 2 ;;
esac
[ "\$1" = haproxy ] || daemon+=(-f -c "$folder/ceph.conf")
exec 9>>lock
flock 9
(
  { grep -v "^\$1 " "\$pids" || true; echo "\$1 \$BASHPID"; } >"\$pids.new"
  mv "\$pids.new" "\$pids"
  exec setsid "\${daemon[@]}" 9>&-
) >>"\$1.out.log" 2>&1 </dev/null &
until grep --quiet "^\$1 \$!\$" "\$pids"; do sleep 0.01; done
BASH
chmod +x "$folder/start"
touch "$folder"/{pids,own-pids}
export CEPH_CONF=$folder/ceph.conf CEPH_PIDS=$folder/pids CEPH_RESTART=$folder/start
export NO_PROXY=127.0.0.1

# One key for all of them, who may do everything.
key=$(ceph-authtool --gen-print-key)
for name in mon. client.admin mgr.a osd.0 osd.1 osd.2 client.rgw.0 client.rgw.1; do
  printf '[%s]\nkey = %s\n' "$name" "$key"
  printf 'caps %s = "allow *"\n' mon mgr osd
done >"$folder/keyring"
mkdir "$folder"/{mon.a,mgr.a,osd.0,osd.1,osd.2,crash}
{
  monmaptool --create --fsid "$cluster" --addv a "[v2:127.0.0.1:$monitor]" "$folder/monmap"
  ceph-mon --mkfs -i a --monmap "$folder/monmap" --keyring "$folder/keyring" -c "$CEPH_CONF"
} >"$folder/mkfs.log" 2>&1 || failed "no monitor could be made"
"$folder/start" mon.a
"$folder/start" mgr.a
for number in 0 1 2; do
  id=osd_$number
  ceph-osd -f --mkfs --no-mon-config -i "$number" --osd-uuid "${!id}" -c "$CEPH_CONF" \
    >"$folder/mkfs.osd.$number.log" 2>&1 &
  made+=($!)
done
for process in "${made[@]}"; do
  wait "$process" || failed "no OSD could be made"
done
made=()
printf 'osd new %s\n' "$osd_0" "$osd_1" "$osd_2" | timeout 30 ceph >"$folder/ceph.log" 2>&1 ||
  failed "the monitor does not answer"
for number in 0 1 2; do
  "$folder/start" "osd.$number"
done

# Pools are made when they are first needed. A bucket can be used once something can be written to
# it through both gateways.
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=secret AWS_REGION=us-east-1
timeout 120 radosgw-admin user create --uid=test --display-name=test \
  --access-key="$AWS_ACCESS_KEY_ID" --secret-key="$AWS_SECRET_ACCESS_KEY" \
  >"$folder/user.log" 2>&1 || failed "no user could be made"
"$folder/start" rgw.0
"$folder/start" rgw.1
"$folder/start" haproxy
nothing=$(sha256sum </dev/null)
put() {
  # curl signs what is said here: the host with its port, and a body that is empty.
  curl --silent --fail --output /dev/null --max-time 30 --request PUT \
    --aws-sigv4 "aws:amz:$AWS_REGION:s3" --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" \
    --header "Host: 127.0.0.1:$1" --header "Content-Length: 0" \
    --header "x-amz-content-sha256: ${nothing%% *}" "http://127.0.0.1:$1/$2"
}
ready=
for _ in $(seq 300); do
  if put "$proxy" stonecrop && put "$gateway_0" stonecrop/ready && put "$gateway_1" stonecrop/ready
  then
    ready=yes
    break
  fi
  sleep 0.2
done
[ -n "$ready" ] || failed "no bucket could be made"

export STONECROP_OBJECTS="s3://stonecrop/tests?endpoint=http://127.0.0.1:$proxy"
# As a group of its own, beside this script, which hears of signals at once.
set -m
"$@" &
command=$!
set +m
wait "$command"
