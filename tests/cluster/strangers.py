#!/usr/bin/env python3
"""A node whose secret or version is another than that of the cluster does not start, and takes nothing
from the others. Of two with different secrets that start at the same moment, each of which may have
found nobody to ask, one says so at the least.

usage: strangers.py BINARY
"""

import http.server
import json
import sys
import threading
import urllib.error
import urllib.request

from nodes import Cluster, free_ports

SAID = "has another secret than this one: start all nodes with the same --cluster-secret-file"
SAID_OF_VERSIONS = "is of a version that this one can't talk to: stop all nodes"
CALLS = "/cluster/call"
ANOTHER_VERSION = 426


def ask(url, method="GET", body=None):
    """The status, and the body as text; no status if there was no answer."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return None, str(error)


def give_secrets(cluster, secrets):
    for node, secret in zip(cluster.nodes, secrets):
        with open(f"{cluster.folder}/secret-{node.port}", "w") as file:
            file.write(secret)
        node.command += ["--cluster-secret-file", file.name]


def log_of(node):
    with open(node.log) as log:
        return log.read()


def late(binary):
    """One that comes to others."""
    cluster = Cluster(binary, nodes=2)
    give_secrets(cluster, ["ours", "theirs"])
    first, second = cluster.nodes
    for each in [*cluster.members, first]:
        each.start()
    cluster.wait_for(first.is_ready, 60, "the first node")
    second.start()
    cluster.wait_for(lambda: second.process.poll() is not None, 60, "the second node to end")
    assert second.process.returncode != 0 and SAID in log_of(second), log_of(second)
    assert "given up" not in log_of(first), log_of(first)
    status, body = ask(f"{first.url}/v1/tables", "POST", {"name": "people", "partition_key": "id u64"})
    assert status == 201, (status, body)
    cluster.close()
    print("a node with another secret did not start, and took nothing")


class AnotherVersion(http.server.BaseHTTPRequestHandler):
    """Answers as a node does that is asked by one of another version."""

    def do_POST(self):
        # Who is answered before all was read can find the connection reset instead.
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(ANOTHER_VERSION)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def version(binary):
    """One that comes to others of another version: to a door that says so."""
    door = http.server.ThreadingHTTPServer(("127.0.0.1", 0), AnotherVersion)
    threading.Thread(target=door.serve_forever, daemon=True).start()
    cluster = Cluster(binary, nodes=2)
    first, second = cluster.nodes
    (port,) = free_ports(1)
    first.command += ["--cluster-listen", f"127.0.0.1:{port}"]
    first.command += ["--cluster-address", f"127.0.0.1:{door.server_port}"]
    for each in [*cluster.members, first]:
        each.start()
    cluster.wait_for(first.is_ready, 60, "the first node")
    second.start()
    cluster.wait_for(lambda: second.process.poll() is not None, 60, "the second node to end")
    assert second.process.returncode != 0 and SAID_OF_VERSIONS in log_of(second), log_of(second)
    assert "given up" not in log_of(first), log_of(first)
    # And a node does say so, to a call that names no version. It reads no body before that, so there is none.
    status, body = ask(f"http://127.0.0.1:{port}{CALLS}", "POST")
    assert status == ANOTHER_VERSION, (status, body)
    cluster.close()
    door.shutdown()
    print("a node of another version did not start, and took nothing")


def together(binary):
    """Two at once."""
    cluster = Cluster(binary, nodes=2)
    give_secrets(cluster, ["ours", "theirs"])
    for each in cluster.members + cluster.nodes:
        each.start()
    cluster.wait_for(lambda: any(SAID in log_of(node) for node in cluster.nodes), 90, "a word of it")
    cluster.close()
    print("of two that came at once with different secrets one said so")


if __name__ == "__main__":
    late(sys.argv[1])
    version(sys.argv[1])
    together(sys.argv[1])
