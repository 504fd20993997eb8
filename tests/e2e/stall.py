"""Does one client, server or program stop the others? The stall detector, and how to add a row.

`glovebox serve` has one event loop. What it does for one client in one turn, every other client waits
for. A row of test_stalls.py sends hostile input to a server; meanwhile a healthy client asks the same
server for /healthz, again and again. What counts is how much processor time the engine's thread used
between a question and its answer: that is what the input made the others wait, and neither a slow
disk nor other programs on the machine add to it. The bound is BUDGET, and more where the processor is
slow or the build has sanitizers. An answer that does not come within HANG seconds fails as well.

To add a row: write a function that takes the server (web.Server) and does something costly or hostile
to it, as often as it likes, and returns when that is over; decorate it with

    @row("key", "other key")            # the request keys that it exercises
    @row(downstream="tools/call")       # or the message of a downstream server
    @row(face="pipelined requests")     # or what a client does to the server beside requests
    @row("code", options=["--policy", "strict"])    # the server's options; rows with the same share one

A row must cost something: assert in it that the input was taken or refused as it should be. Run one
with `tests/run e2e tests/e2e/test_stalls.py -k NAME`; on failure the message has the time.
"""
import json
import os
import select
import time
from dataclasses import dataclass

import box

BUDGET = 0.25  # seconds of the engine's processor time that a question may wait for
HANG = 60      # seconds without an answer, whatever the engine does
NOMINAL = 0.25  # seconds that slowness() takes where BUDGET was chosen
ROWS = []


@dataclass
class Row:
    name: str
    act: object
    keys: tuple
    downstream: str
    face: str
    options: tuple


def row(*keys, downstream=None, face=None, options=()):
    def add(act):
        ROWS.append(Row(act.__name__, act, keys, downstream, face, tuple(map(str, options))))
        return act
    return add


def budget():
    """BUDGET, on this processor and for this build. The best of three: others use the machine too."""
    took = []
    for _ in range(3):
        began, n = time.thread_time(), 0
        for i in range(3_000_000):
            n += i & 7
        took.append(time.thread_time() - began)
    return BUDGET * max(1, min(took) / NOMINAL) * (10 if box.SANITIZED else 1)


def processor_time(pid):
    """Seconds that the main thread of a process has used."""
    fields = open(f"/proc/{pid}/task/{pid}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Watch:
    """A healthy client of `server`, for as long as the block lasts. `worst`: seconds of processor time.

    It is a process of its own: a thread of this one would wait for the row's own Python, and take what
    the engine did meanwhile for what it waited for."""

    def __init__(self, server):
        self.server, self.worst, self.asked, self.problem = server, 0, 0, None

    def ask(self, connection):
        began = processor_time(self.server.process.pid)
        reply = self.server.get("/healthz", on=connection)
        now = processor_time(self.server.process.pid)
        assert reply.status == 200, reply.body
        self.asked += 1
        self.worst = max(self.worst, now - began)

    def run(self, until):
        connection = self.server.connect(HANG)
        while not select.select([until], [], [], 0.002)[0]:
            self.ask(connection)
        self.ask(connection)
        connection.close()

    def child(self, until, result):
        try:
            self.run(until)
        except BaseException as e:
            self.problem = repr(e)
        os.write(result, json.dumps([self.worst, self.asked, self.problem]).encode())
        os._exit(0)

    def __enter__(self):
        (until, self.end), (self.result, result) = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.end)
            self.child(until, result)
        os.close(until)
        os.close(result)
        return self

    def __exit__(self, *_):
        os.close(self.end)
        told = os.read(self.result, 65536)
        os.close(self.result)
        os.waitpid(self.pid, 0)
        self.worst, self.asked, self.problem = json.loads(told)
