#!/usr/bin/env python3
"""Nodes and members of etcd are killed, paused and stopped under load, and nothing that was
acknowledged may be lost.

usage: kills.py BINARY [--short]
STONECROP_OBJECTS says where the database is; a folder of its own if not given. CEPH_PIDS names a
file with the processes of a Ceph that are to be killed as well, CEPH_RESTART what starts one again.

Every writer has rows of its own, and writes larger and larger numbers to them through all nodes.
A row must never show less than what was acknowledged before it was asked for, through any node,
and at the end every row is read through every node. The shards of a node that is killed or stopped
go to the others, and it has some again once it is back. A backup that is made meanwhile has all that
was acknowledged before it.
"""

import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

from nodes import Cluster

WRITERS = 6
READERS = 2
ROWS = 40
GOAL_SECONDS = 10
MOVING_SECONDS = 60


class Client:
    """Asks nodes over connections that are kept."""

    def __init__(self, nodes):
        self.nodes = nodes
        self.connections = {}

    def ask(self, node, method, path, body=None, timeout=20):
        """The status and the body; no status if there was no answer."""
        connection = self.connections.pop(node.port, None)
        try:
            if connection is None:
                connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=timeout)
            headers = {"content-type": "application/json"} if body is not None else {}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
            self.connections[node.port] = connection
            return answer.status, text
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            return None, str(error).encode()


class Load:
    """What writers wrote, and what readers saw."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.stop = threading.Event()
        self.acknowledged = {}
        self.wrong = []
        self.last_ack = [time.monotonic()] * WRITERS
        self.gaps = []
        self.writes = self.reads = self.refused = 0
        self.threads = [threading.Thread(target=self.write, args=(at,)) for at in range(WRITERS)]
        self.threads += [threading.Thread(target=self.read) for _ in range(READERS)]
        for thread in self.threads:
            # They don't keep a test from ending that has failed.
            thread.daemon = True

    def write(self, writer):
        client, number = Client(self.cluster.nodes), 0
        chance = random.Random(writer)
        while not self.stop.is_set():
            number += 1
            row = writer * ROWS + chance.randrange(ROWS)
            node = chance.choice(self.cluster.nodes)
            began = time.monotonic()
            status, text = client.ask(node, "PUT", f"/v1/tables/kills/rows/{row}", {"set": {"n": {"Int": number}}})
            now = time.monotonic()
            if status is not None and status < 300:
                self.acknowledged[row] = number
                self.writes += 1
                self.gaps.append((self.last_ack[writer], now))
                self.last_ack[writer] = now
            elif status is not None and status not in (503, 504):
                self.wrong.append(f"a write of {row} through {node.name}: {status} {text[:300]!r}")
            else:
                self.refused += 1
                # A node that is away refuses at once.
                self.stop.wait(max(0, 0.05 - (now - began)))

    def read(self):
        client, chance = Client(self.cluster.nodes), random.Random(99)
        while not self.stop.is_set():
            rows = list(self.acknowledged)
            if not rows:
                self.stop.wait(0.05)
                continue
            row = chance.choice(rows)
            self.look(client, chance.choice(self.cluster.nodes), row)
            self.stop.wait(0.002)

    def look(self, client, node, row):
        """Whether a node shows at least what was acknowledged; false if it does not answer."""
        before = self.acknowledged[row]
        status, text = client.ask(node, "GET", f"/v1/tables/kills/rows/{row}")
        if status in (None, 503, 504):
            self.refused += 1
            return False
        self.reads += 1
        found = json.loads(text)["columns"]["n"]["value"]["Int"] if status == 200 else None
        if found is None or found < before:
            self.wrong.append(f"row {row} through {node.name}: {before} was acknowledged, {status} {text[:300]!r}")
        return True

    def longest_gap(self, since):
        """The longest that a writer had to wait, of what ended after a time."""
        ended = [then - before for before, then in self.gaps if then >= since]
        waits = [time.monotonic() - last for last in self.last_ack]
        return max(ended + waits)


def events(cluster):
    """What happens, one after the other: its name, what is done, what undoes it, and the node that is gone
    in between, if one is."""
    for node in cluster.nodes:
        yield f"kill -9 of {node.name}", node.kill, node.start, node
    for node in cluster.nodes[:2]:
        pause = (lambda node: lambda: node.signal(signal.SIGSTOP))(node)
        resume = (lambda node: lambda: node.signal(signal.SIGCONT))(node)
        yield f"pause of {node.name}", pause, resume, None
    for node in cluster.nodes:

        def pause_for(node=node):
            # About as long as the lease: whether it has ended is close.
            node.signal(signal.SIGSTOP)
            time.sleep(3.2)
            node.signal(signal.SIGCONT)

        yield f"short pause of {node.name}", pause_for, lambda: None, None
    last = cluster.nodes[-1]
    yield f"stop of {last.name}", last.stop, last.start, last
    for member in cluster.members[:2]:
        yield f"kill -9 of {member.name}", member.kill, member.start, None
    pids = os.environ.get("CEPH_PIDS")
    if pids:
        for name in ["osd.0", "rgw.0", "osd.1", "rgw.1"]:

            def kill(name=name):
                with open(pids) as lines:
                    running = dict(line.split() for line in lines)
                os.kill(int(running[name]), signal.SIGKILL)

            def restart(name=name):
                subprocess.run([os.environ["CEPH_RESTART"], name], check=True)

            yield f"kill -9 of {name}", kill, restart, None


def wait_until_left(cluster, node):
    """Until all shards are open at others than a node that is gone."""

    def has_left():
        spread = cluster.spread()
        return spread and not spread.get(node.address)

    cluster.wait_for(has_left, MOVING_SECONDS, f"others to have the shards of {node.name}")


def wait_until_back(cluster, node):
    """Until a node that was started again has shards, and all are open."""
    cluster.wait_for(lambda: node.address in cluster.spread(), MOVING_SECONDS, f"{node.name} to be back")
    if cluster.spread().get(node.address) == 0:
        # Which shards are its own follows from its name, which is another at every start. Of 16 shards and
        # three nodes one name in 650 has none, and the next one has.
        node.stop()
        node.start()
    cluster.wait_for(
        lambda: cluster.spread().get(node.address), MOVING_SECONDS, f"{node.name} to have shards again"
    )


def happen(cluster, load, name, act, undo, gone):
    """Does something and undoes it; the longest that a writer had to wait meanwhile."""
    began = time.monotonic()
    act()
    time.sleep(8)
    if gone is not None:
        wait_until_left(cluster, gone)
    undo()
    time.sleep(4)
    if gone is not None:
        wait_until_back(cluster, gone)
    gap = load.longest_gap(began)
    print(f"{name}: at most {gap:.1f} s without a write; {load.writes} writes so far", flush=True)
    return gap


def is_behind(cluster):
    """Whether the files of some shard are behind its log."""
    return any((shard["lag_seconds"] or 0) > 0 for shard in cluster.status()["shards"])


def under(heading, table):
    """What stands under a heading, line by line; nothing if there is no such heading."""
    lines = iter(table.splitlines())
    at = next((line.index(heading) for line in lines if heading in line.split()), None)
    return [line[at:].split("  ")[0].strip() for line in lines]


def problems_of_status(binary, cluster):
    """What is wrong with what is told of a cluster that is whole."""
    shown = subprocess.run(
        [binary, "--database", cluster.nodes[0].url, "cluster", "status"], capture_output=True, text=True, timeout=60
    )
    told = cluster.status()
    addresses = [node["address"] for node in told["nodes"]]
    if shown.returncode != 0 or len(addresses) != len(cluster.nodes) or any(it not in shown.stdout for it in addresses):
        yield f"cluster status: {shown.stdout!r} {shown.stderr!r}, and the nodes are {addresses}"
    lags = under("lag", shown.stdout)
    if len(lags) != len(told["shards"]) or not all(re.fullmatch(r"\d+ s", lag) for lag in lags):
        yield f"cluster status shows the lags {lags}: {shown.stdout!r}"
    # What was written is made files within about a minute.
    if any(shard["node"] is None or shard["epoch"] is None or not 0 <= shard["lag_seconds"] < 75 for shard in told["shards"]):
        yield f"cluster status: {told['shards']}"


def problems_of_backup(binary, cluster, load):
    """What is wrong with a backup that is made while rows are written."""
    before = dict(load.acknowledged)
    status, text = Client(cluster.nodes).ask(cluster.nodes[0], "POST", "/v1/backups", {}, timeout=120)
    if status != 201:
        yield f"backup: {status} {text[:300]!r}"
        return
    exported = subprocess.run(
        [binary, "--database", json.loads(text)["location"], "export", "kills", "--format", "jsonl"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    checked = subprocess.run(
        [binary, "--database", json.loads(text)["location"], "check"], capture_output=True, text=True, timeout=60
    )
    if checked.returncode != 0:
        yield f"check of a backup: {checked.stdout!r} {checked.stderr!r}"
    rows = {row["id"]: row["n"] for row in map(json.loads, exported.stdout.splitlines())}
    older = {row: (number, rows.get(row)) for row, number in before.items() if rows.get(row, 0) < number}
    if exported.returncode != 0 or not rows or older:
        yield f"backup: {len(rows)} rows, older than what was acknowledged: {older}; {exported.stderr!r}"


def main():
    binary = sys.argv[1]
    is_short = "--short" in sys.argv[2:]
    backups = tempfile.TemporaryDirectory()
    options = ["--flush-interval", "10ms", "--backups", backups.name]
    cluster = Cluster(binary, os.environ.get("STONECROP_OBJECTS"), options=options)
    cluster.start()
    client = Client(cluster.nodes)
    schema = {
        "name": "kills",
        "partition_key": "id i64",
        "families": [{"name": "f", "columns": [{"name": "n", "type": "int"}]}],
        "indexes": [{"name": "by_n", "columns": "n i64"}],
    }
    made = client.ask(cluster.nodes[0], "POST", "/v1/tables", schema)
    if made[0] != 201:
        cluster.show_logs()
        raise SystemExit(f"no table: {made}")
    load = Load(cluster)
    for thread in load.threads:
        thread.start()
    time.sleep(3)
    cluster.wait_for(lambda: is_behind(cluster), 30, "a lag above 0 under load")
    load.wrong += problems_of_backup(binary, cluster, load)
    worst = 0
    happening = list(events(cluster))
    if is_short:
        # One of each kind.
        happening = [happening[at] for at in (0, 3, 5, 8, 9)]
    for event in happening:
        worst = max(worst, happen(cluster, load, *event))
        if load.wrong:
            break
    load.stop.set()
    for thread in load.threads:
        thread.join()
    cluster.wait_for(cluster.is_whole, 60, "all nodes and shards to be back")
    for node in cluster.nodes:
        for row in list(load.acknowledged):
            cluster.wait_for(lambda: load.look(client, node, row), 30, f"row {row} through {node.name}")
    load.wrong += problems_of_status(binary, cluster)
    status, report = client.ask(cluster.nodes[0], "POST", "/v1/check", {}, timeout=60)
    if status != 200 or json.loads(report).get("problems"):
        load.wrong.append(f"check: {status} {report[:500]!r}")
    print(
        f"{load.writes} writes acknowledged, {load.refused} requests refused, {load.reads} reads; "
        f"the longest time without a write was {worst:.1f} s (goal {GOAL_SECONDS})"
    )
    # The machine is shared and noisy, so what is a little over the goal is only told.
    if worst > 2 * GOAL_SECONDS:
        load.wrong.append(f"a writer was without a write for {worst:.1f} s, more than twice the goal")
    for problem in load.wrong[:10]:
        print("WRONG:", problem)
    if load.wrong:
        cluster.show_logs()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
