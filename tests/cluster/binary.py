#!/usr/bin/env python3
"""Stands in for the binary in tests that start a server: starts a cluster of three, and tells the
address of one of its nodes. STONECROP_REAL_BIN is the binary."""

import os
import signal
import sys

from nodes import Cluster


def main():
    real, arguments = os.environ["STONECROP_REAL_BIN"], sys.argv[1:]
    if arguments[:1] != ["serve"]:
        os.execv(real, [real, *arguments])
    options = arguments[2:]
    at = options.index("--listen")
    del options[at : at + 2]
    cluster = Cluster(real, options=[*options, "--flush-interval", "1ms"])
    # Ends as the server does: by what is registered for the end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    cluster.start()
    print(f"Stonecrop serves a cluster at {cluster.nodes[1].url}", flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
