"""Members of etcd and nodes of Stonecrop, started for a test and stopped after it."""

import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None


def free_ports(count):
    """Ports that nobody has now."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Process:
    """A program that can be killed, paused, and started again."""

    def __init__(self, name, command, log, environment=None):
        self.name, self.command, self.log = name, command, log
        self.environment = {**os.environ, **(environment or {})}
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.command, stdout=log, stderr=log, env=self.environment, start_new_session=True
            )

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        if self.is_running():
            os.kill(self.process.pid, number)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()

    def stop(self, within=30):
        """Asks it to end, and tells how it did."""
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            return self.process.wait(within)
        except subprocess.TimeoutExpired:
            self.kill()
            return None


class Node(Process):
    """A node, with the address at which clients reach it."""

    def __init__(self, number, command, port, log):
        environment = {"NO_COLOR": "1", "STONECROP_LOG": "info,slatedb=warn,stonecrop_server=warn"}
        self.port = port
        self.address = f"127.0.0.1:{port}"
        self.url = f"http://{self.address}"
        super().__init__(f"node {number}", command + ["--listen", self.address], log, environment)

    def is_ready(self):
        try:
            with urllib.request.urlopen(f"{self.url}/health/ready", timeout=1) as answer:
                return answer.status == 200
        except OSError:
            return False


class Cluster:
    """Three members of etcd, and nodes that share a database."""

    def __init__(self, binary, location=None, nodes=3, options=()):
        self.folder = tempfile.mkdtemp(prefix="stonecrop-cluster-", dir=MEMORY)
        atexit.register(self.close)
        location = location or f"file://{self.folder}/data?engine=slatedb"
        self.members = self._members()
        hosts = ",".join(f"127.0.0.1:{member.port}" for member in self.members)
        command = [os.path.abspath(binary), "serve", location, "--cluster", f"etcd://{hosts}", *options]
        self.nodes = [
            Node(number, command, port, f"{self.folder}/node-{number}.log")
            for number, port in enumerate(free_ports(nodes), 1)
        ]

    def _members(self):
        ports = free_ports(6)
        peers = [f"m{at}=http://127.0.0.1:{port}" for at, port in enumerate(ports[3:])]
        members = []
        for at in range(3):
            client, peer = (f"http://127.0.0.1:{ports[at]}", f"http://127.0.0.1:{ports[at + 3]}")
            command = ["etcd", "--name", f"m{at}", "--data-dir", f"{self.folder}/etcd-{at}"]
            command += ["--listen-client-urls", client, "--advertise-client-urls", client]
            command += ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]
            command += ["--initial-cluster", ",".join(peers)]
            command += ["--heartbeat-interval", "100", "--election-timeout", "1000"]
            member = Process(f"etcd {at}", command, f"{self.folder}/etcd-{at}.log")
            member.port = ports[at]
            members.append(member)
        return members

    def start(self, within=60):
        for each in self.members + self.nodes:
            each.start()
        self.wait_for(lambda: all(node.is_ready() for node in self.nodes), within, "the nodes to start")

    def status(self):
        """Who has what, as the first node that runs sees it."""
        asked = next((node for node in self.nodes if node.is_running()), self.nodes[0])
        with urllib.request.urlopen(f"{asked.url}/v1/cluster", timeout=10) as answer:
            return json.load(answer)

    def spread(self):
        """How many shards each node has, by its address; nothing unless all are open where they should be."""
        try:
            told = self.status()
        except OSError:
            return {}
        if any(not shard["epoch"] or shard["node"] != shard["wanted_by"] for shard in told["shards"]):
            return {}
        return {node["address"]: node["shards"] for node in told["nodes"]}

    def is_whole(self):
        """Whether every node is ready, and every shard open where it should be."""
        return all(node.is_ready() for node in self.nodes) and len(self.spread()) == len(self.nodes)

    def wait_for(self, condition, within, what):
        end = time.monotonic() + within
        while not condition():
            if time.monotonic() > end:
                self.show_logs()
                raise SystemExit(f"waited {within} s in vain for {what}")
            time.sleep(0.1)

    def show_logs(self):
        for each in self.members + self.nodes:
            with open(each.log, errors="replace") as log:
                print(f"--- {each.name}", *log.readlines()[-15:], sep="\n")

    def close(self):
        for each in self.nodes + self.members:
            if each.is_running():
                each.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
