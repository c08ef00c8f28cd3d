#!/usr/bin/env python3
"""Nodes and members of etcd are killed, paused and stopped under load, and nothing that was
acknowledged may be lost.

usage: kills.py BINARY [--short]
STONECROP_OBJECTS says where the database is; a folder of its own if not given. CEPH_PIDS names a
file with the processes of a Ceph that are to be killed as well, CEPH_RESTART what starts one again.

Every writer has rows of its own, and writes larger and larger numbers to them through all nodes.
A row must never show less than what was acknowledged before it was asked for, through any node,
and at the end every row is read through every node.
"""

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

from nodes import Cluster

WRITERS = 6
READERS = 2
ROWS = 40
GOAL_SECONDS = 10


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
    """What happens, one after the other: its name, what is done, and what undoes it."""
    for node in cluster.nodes:
        yield f"kill -9 of {node.name}", node.kill, node.start
    for node in cluster.nodes[:2]:
        pause = (lambda node: lambda: node.signal(signal.SIGSTOP))(node)
        resume = (lambda node: lambda: node.signal(signal.SIGCONT))(node)
        yield f"pause of {node.name}", pause, resume
    for node in cluster.nodes:

        def pause_for(node=node):
            # About as long as the lease: whether it has ended is close.
            node.signal(signal.SIGSTOP)
            time.sleep(3.2)
            node.signal(signal.SIGCONT)

        yield f"short pause of {node.name}", pause_for, lambda: None
    yield f"stop of {cluster.nodes[2].name}", cluster.nodes[2].stop, cluster.nodes[2].start
    for member in cluster.members[:2]:
        yield f"kill -9 of {member.name}", member.kill, member.start
    pids = os.environ.get("CEPH_PIDS")
    if pids:
        for name in ["osd.0", "rgw.0", "osd.1", "rgw.1"]:

            def kill(name=name):
                with open(pids) as lines:
                    running = dict(line.split() for line in lines)
                os.kill(int(running[name]), signal.SIGKILL)

            def restart(name=name):
                subprocess.run([os.environ["CEPH_RESTART"], name], check=True)

            yield f"kill -9 of {name}", kill, restart


def main():
    binary = sys.argv[1]
    is_short = "--short" in sys.argv[2:]
    options = ["--flush-interval", "10ms"]
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
    worst = 0
    happening = list(events(cluster))
    if is_short:
        # One of each kind.
        happening = [happening[at] for at in (0, 3, 5, 8, 9)]
    for name, act, undo in happening:
        began = time.monotonic()
        act()
        time.sleep(8)
        gap = load.longest_gap(began)
        undo()
        time.sleep(4)
        gap = max(gap, load.longest_gap(began + 8))
        worst = max(worst, gap)
        print(f"{name}: at most {gap:.1f} s without a write; {load.writes} writes so far", flush=True)
        if load.wrong:
            break
    load.stop.set()
    for thread in load.threads:
        thread.join()
    cluster.wait_for(cluster.is_whole, 60, "all nodes and shards to be back")
    for node in cluster.nodes:
        for row in list(load.acknowledged):
            cluster.wait_for(lambda: load.look(client, node, row), 30, f"row {row} through {node.name}")
    shown = subprocess.run(
        [binary, "--database", cluster.nodes[0].url, "cluster", "status"], capture_output=True, text=True, timeout=60
    )
    told = cluster.status()
    addresses = [node["address"] for node in told["nodes"]]
    if shown.returncode != 0 or len(addresses) != len(cluster.nodes) or any(it not in shown.stdout for it in addresses):
        load.wrong.append(f"cluster status: {shown.stdout!r} {shown.stderr!r}, and the nodes are {addresses}")
    # What was written is made files within about a minute.
    if any(shard["node"] is None or shard["epoch"] is None or not 0 <= shard["lag_seconds"] < 75 for shard in told["shards"]):
        load.wrong.append(f"cluster status: {told['shards']}")
    status, report = client.ask(cluster.nodes[0], "POST", "/v1/check", {}, timeout=60)
    if status != 200 or json.loads(report).get("problems"):
        load.wrong.append(f"check: {status} {report[:500]!r}")
    print(
        f"{load.writes} writes acknowledged, {load.refused} requests refused, {load.reads} reads; "
        f"the longest time without a write was {worst:.1f} s (goal {GOAL_SECONDS})"
    )
    for problem in load.wrong[:10]:
        print("WRONG:", problem)
    if load.wrong:
        cluster.show_logs()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
