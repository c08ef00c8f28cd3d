#!/usr/bin/env python3
"""Runs a command with a cluster of three to itself: STONECROP_URL names one of its nodes, which does
not lead.

usage: run.py BINARY [SERVE OPTIONS] -- COMMAND [ARGUMENTS]
STONECROP_OBJECTS says where the database is; a folder of its own if not given.
"""

import os
import subprocess
import sys

from nodes import Cluster


def main():
    at = sys.argv.index("--")
    binary, options, command = sys.argv[1], sys.argv[2:at], sys.argv[at + 1 :]
    cluster = Cluster(binary, os.environ.get("STONECROP_OBJECTS"), options=options)
    cluster.start()

    cluster.wait_for(cluster.is_whole, 60, "all shards")
    leaders = [node["address"] for node in cluster.status()["nodes"] if node["leads"]]
    asked = next(node for node in cluster.nodes if f"127.0.0.1:{node.port}" not in leaders)
    ended = subprocess.run(command, env={**os.environ, "STONECROP_URL": asked.url}, check=False)
    if ended.returncode:
        cluster.show_logs()
    return ended.returncode


if __name__ == "__main__":
    sys.exit(main())
