#!/usr/bin/env python3
"""The object store goes away under a server and one that follows it, and comes back: SeaweedFS is
stopped, so it takes connections and answers nothing.

usage: WEED=... tests/objects/run.sh tests/objects/away.py BINARY [--seconds N]
It is away for N seconds, 5 if not given. STONECROP_OBJECTS says where the database is.

While it is away, what was read before can be read, no write is acknowledged, each either waits until
it is back or fails within its time (`storage-unavailable`, or `timeout` behind another), the server is
alive, and the follower tells that it falls behind. After that everything goes on by itself: before
anybody writes again both servers show the same of writes that have failed, and nothing that was
acknowledged is lost.
"""

import argparse
import atexit
import contextlib
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cluster"))

from nodes import MEMORY, Node, free_ports
from strangers import ask

# Half of them in files, and half in memory and the log alone.
ROWS = 40
# How many are sent while it is away, two at a time.
WRITES = 6
# What is in memory is there at once; this is for a machine that is busy.
READ_SECONDS = 3
# A write is given up after 25 s, and one behind it after 30.
WRITE_SECONDS = 35
REFUSALS = [(503, "storage-unavailable"), (504, "timeout")]
BACK_SECONDS = 30
FOLLOW_SECONDS = 15
SMALL_LAG = 5


class Failed(SystemExit):
    """Why the test can't go on."""


class ObjectStore:
    """The SeaweedFS of a location, which can be sent away."""

    def __init__(self, location):
        port = re.search(r"endpoint=http://127\.0\.0\.1:(\d+)", location)
        if port is None:
            raise Failed(f"no endpoint on this machine in {location}: use tests/objects/run.sh")
        found = [pid for pid in processes() if f"-s3.port={port[1]}" in arguments(pid)]
        if len(found) != 1:
            raise Failed(f"the processes with -s3.port={port[1]} are {found}, and not one")
        self.pid = found[0]
        self.is_away = False
        atexit.register(self.come_back)

    def go_away(self):
        self.is_away = True
        os.kill(self.pid, signal.SIGSTOP)
        need(comes(lambda: set(states(self.pid)) == {"T"}, 10), "the object store does not stop")

    def come_back(self):
        if self.is_away:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGCONT)
            self.is_away = False


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def arguments(pid):
    try:
        with open(f"/proc/{pid}/cmdline") as file:
            return file.read().split("\0")
    except OSError:
        # It has ended.
        return []


def states(pid):
    """Of each thread of a process, as the system calls them: T is stopped."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        # It may end meanwhile.
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/stat") as file:
            yield file.read().rpartition(") ")[2][0]


def comes(condition, within):
    """Whether it does, within so many seconds."""
    end = time.monotonic() + within
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def need(is_so, problem):
    if not is_so:
        raise Failed(problem)


def put(server, row, name, durability="sync"):
    body = {"set": {"name": {"String": name}}, "durability": durability}
    return ask(f"{server.url}/v1/tables/people/rows/{row}", "PUT", body)


def read(server, row):
    """The status, and the name, or what is wrong."""
    status, body = ask(f"{server.url}/v1/tables/people/rows/{row}")
    if status is None:
        return status, body
    told = json.loads(body)
    return status, told["columns"]["name"]["value"]["String"] if status == 200 else told["detail"]


def lag(server):
    status, body = ask(f"{server.url}/v1/stats")
    return json.loads(body)["lag_seconds"] if status == 200 else None


class Write:
    """A write that is sent some time after the object store went away."""

    def __init__(self, server, row, after):
        self.server, self.row, self.after = server, row, after
        self.name = f"written while it was away: {row}"
        self.status = self.body = self.ended = self.took = None
        self.thread = threading.Thread(target=self.send, daemon=True)
        self.thread.start()

    def send(self):
        time.sleep(self.after)
        began = time.monotonic()
        self.status, self.body = put(self.server, self.row, self.name)
        now = time.monotonic()
        self.took, self.ended = now - began, now

    def problem(self, back):
        """What is wrong with its answer, if anything is; it was back at this moment."""
        self.thread.join(WRITE_SECONDS)
        said = f"a write that was sent {self.after:.1f} s after it went away"
        if self.ended is None or self.took > WRITE_SECONDS:
            return f"{said} was not answered within {WRITE_SECONDS} s"
        if self.status == 200:
            return f"{said} was acknowledged while it was away" if self.ended < back else None
        code = json.loads(self.body).get("code") if self.status else None
        if (self.status, code) not in REFUSALS:
            return f"{said} got after {self.took:.1f} s: {self.status} {self.body}"
        return None

    def __str__(self):
        return "nothing" if self.ended is None else f"{self.status} after {self.took:.1f} s"


class Reader:
    """Reads rows that were read before, through the server that writes, until it is told to stop."""

    def __init__(self, server, rows):
        self.server, self.rows = server, rows
        self.reads, self.slowest, self.wrong = 0, 0, []
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.stop.is_set():
            for row, name in self.rows.items():
                began = time.monotonic()
                found = read(self.server, row)
                took = time.monotonic() - began
                self.reads += 1
                self.slowest = max(self.slowest, took)
                if found != (200, name) or took > READ_SECONDS:
                    self.wrong.append(f"row {row}, which was read before, after {took:.1f} s: {found}")
                    return
            self.stop.wait(0.1)

    def end(self):
        """What was wrong."""
        self.stop.set()
        self.thread.join(READ_SECONDS)
        return self.wrong + (["a read of what was read before is not answered"] if self.thread.is_alive() else [])


class Test:
    def __init__(self, binary, seconds):
        self.seconds, self.wrong = seconds, []
        location = os.environ.get("STONECROP_OBJECTS", "")
        self.objects = ObjectStore(location)
        self.folder = tempfile.mkdtemp(prefix="stonecrop-away-", dir=MEMORY)
        path, _, parameters = location.partition("?")
        command = [os.path.abspath(binary), "serve", f"{path}/away-{os.getpid()}?{parameters}"]
        ports = free_ports(2)
        self.writer = Node(1, [*command, "--shards", "2"], ports[0], f"{self.folder}/writer.log")
        self.follower = Node(2, [*command, "--read-only"], ports[1], f"{self.folder}/follower.log")
        self.writer.name, self.follower.name = "the writer", "the follower"
        self.servers = [self.writer, self.follower]
        # What was acknowledged, by row.
        self.rows = {row: f"written before: {row}" for row in range(ROWS)}
        self.writes = []
        atexit.register(self.close)

    def expect(self, is_so, problem):
        if not is_so and problem not in self.wrong:
            self.wrong.append(problem)

    def begin(self):
        """Two servers, and rows that both have read."""
        self.writer.start()
        need(comes(self.writer.is_ready, 60), "the writer does not start")
        family = {"name": "f", "columns": [{"name": "name", "type": "string"}]}
        table = {"name": "people", "partition_key": "id u64", "families": [family]}
        self.done(201, ask(f"{self.writer.url}/v1/tables", "POST", table))
        for row, name in self.rows.items():
            if row == ROWS // 2:
                self.done(204, ask(f"{self.writer.url}/v1/compact", "POST", {}))
            self.done(200, put(self.writer, row, name, "sync" if row % 4 else "interval"))
        self.follower.start()
        need(comes(self.follower.is_ready, 60), "the follower does not start")
        need(comes(lambda: self.has_all(self.follower), 30), "the follower does not show all rows")
        need(self.has_all(self.writer), "the writer does not show all rows")

    def done(self, expected, answer):
        need(answer[0] == expected, f"{expected} was expected, not {answer}")

    def has_all(self, server):
        """Whether it shows all that was acknowledged."""
        return all(read(server, row) == (200, name) for row, name in self.rows.items())

    def keeps_up(self):
        behind = lag(self.follower)
        return behind is not None and behind < SMALL_LAG

    def go_away(self):
        """It goes away and comes back. Who has read meanwhile, what the follower's lag was at the end, and
        when it came back."""
        self.objects.go_away()
        end = time.monotonic() + self.seconds
        pause = self.seconds / (WRITES // 2)
        self.writes = [Write(self.writer, ROWS + at, at // 2 * pause) for at in range(WRITES)]
        reader = Reader(self.writer, dict(self.rows))
        behind = None
        while time.monotonic() < end:
            for server in self.servers:
                began = time.monotonic()
                status, _ = ask(f"{server.url}/health/live")
                took = time.monotonic() - began
                is_alive = status == 200 and took < READ_SECONDS
                self.expect(is_alive, f"{server.name} answered whether it is alive after {took:.1f} s: {status}")
            behind = lag(self.follower)
            time.sleep(min(0.25, max(0, end - time.monotonic())))
        self.wrong += reader.end()
        is_behind = behind is not None and behind > self.seconds - 2
        self.expect(is_behind, f"the follower's lag after {self.seconds} s: {behind}")
        back = time.monotonic()
        self.objects.come_back()
        return reader, behind, back

    def go_on(self, back):
        """How long another write took once it was back, and after how long the follower had all."""
        self.wrong += filter(None, [write.problem(back) for write in self.writes])
        self.rows |= {write.row: write.name for write in self.writes if write.status == 200}
        self.agree()
        answers, back = [], time.monotonic()

        def is_written():
            answers.append(put(self.writer, ROWS + WRITES, "written after"))
            return answers[-1][0] == 200

        is_soon = comes(is_written, BACK_SECONDS)
        written = time.monotonic() - back
        is_soon = is_soon and written < BACK_SECONDS
        self.expect(is_soon, f"a write {written:.1f} s after it came back: {answers[-1]}")
        if answers[-1][0] == 200:
            self.rows[ROWS + WRITES] = "written after"
        for row, name in self.rows.items():
            found = read(self.writer, row)
            self.expect(found == (200, name), f"row {row} was acknowledged; the writer: {found}")
        has_all = comes(lambda: self.has_all(self.follower), FOLLOW_SECONDS)
        self.expect(has_all, f"the follower does not show all within {FOLLOW_SECONDS} s")
        is_small = comes(self.keeps_up, FOLLOW_SECONDS)
        self.expect(is_small, f"the follower's lag at the end: {lag(self.follower)}")
        return written, time.monotonic() - back

    def agree(self):
        """A write that was refused was carried out or was not, and both servers say the same."""
        for write in self.writes:
            found = read(self.writer, write.row)
            is_either = found == (200, write.name) or found[0] == 404
            self.expect(is_either, f"row {write.row}, which was refused: {found}")
            row = write.row
            is_same = comes(lambda: read(self.follower, row) == read(self.writer, row), FOLLOW_SECONDS)
            self.expect(is_same, f"row {row} is another through the follower: {read(self.follower, row)}")

    def run(self):
        """The figures."""
        self.begin()
        reader, behind, back = self.go_away()
        written, followed = self.go_on(back)
        for server in self.servers:
            self.expect(server.process.poll() is None, f"{server.name} has ended")
        return (
            f"away for {self.seconds:.0f} s: {reader.reads} reads, the slowest {reader.slowest * 1000:.0f} ms; "
            f"writes got {', '.join(map(str, self.writes))}; the follower's lag was {behind or 0:.1f} s; "
            f"back: a write after {written:.1f} s, the follower had all after {followed:.1f} s"
        )

    def show_logs(self):
        for server in self.servers:
            if server.process is not None:
                status = server.process.poll()
                print(f"--- {server.name}, which {'runs' if status is None else f'ended with {status}'}")
                with open(server.log, errors="replace") as log:
                    print(*log.readlines()[-20:], sep="")

    def close(self):
        self.objects.come_back()
        for server in self.servers:
            if server.process is not None and server.process.poll() is None:
                server.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=5)
    given = parser.parse_args()
    # What is registered for the end is done then, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    test = Test(given.binary, given.seconds)
    try:
        print(test.run())
    except Failed as problem:
        test.wrong.append(problem)
    for problem in test.wrong[:10]:
        print("WRONG:", problem)
    if test.wrong:
        test.show_logs()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
