"""Runs telegate_peer, a program with one socket of core, through pipes.

The path of the program is in TELEGATE_PEER.
"""

import json
import os
import select
import subprocess
import tempfile

from gateway_process import DEADLINE_S, eventually

PROGRAM = os.environ["TELEGATE_PEER"]


def make_payload(seq, size):
    """Returns message number `seq` as the peer creates and checks it."""
    return seq.to_bytes(8, "big") + bytes([seq % 251]) * (size - 8)


class Peer:
    """A running telegate_peer."""

    def __init__(self, role, *arguments, before=()):
        """`before` is a command that runs it, such as prlimit."""
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [*before, PROGRAM, role, *map(str, arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, bufsize=1)
        try:
            self.endpoints = self.read()["endpoints"]
        except BaseException:
            self.close()
            raise

    @property
    def endpoint(self):
        return self.endpoints[0]

    @property
    def pid(self):
        return self.process.pid

    def read(self):
        if not select.select([self.process.stdout], [], [], DEADLINE_S)[0]:
            raise AssertionError("no output from telegate_peer")
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            raise AssertionError(f"telegate_peer exited with {self.process.wait(DEADLINE_S)}: {self.errors.read()}")
        return json.loads(line)

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def status(self):
        self.tell("status")
        return self.read()

    def wait_for(self, condition, what, deadline_s=DEADLINE_S, meanwhile=lambda: None):
        """Requests the status until `condition` holds for it; returns that status. `meanwhile` is called each time."""
        last = {}

        def holds():
            meanwhile()
            last.update(self.status())
            return condition(last)

        try:
            eventually(holds, what, deadline_s)
        except AssertionError as error:
            raise AssertionError(f"{error}: {last}") from None
        return last

    def wait_for_peers(self, count=1):
        return self.wait_for(lambda s: s["peers_count"] == count, f"{count} peers")

    def wait_for_subscriptions(self, count, meanwhile=lambda: None):
        return self.wait_for(lambda s: s["totals"]["subscriptions"] == count, f"{count} subscriptions",
                             meanwhile=meanwhile)

    def wait_for_received(self, count):
        return self.wait_for(lambda s: s["received"]["messages"] >= count, f"{count} messages received")

    def quit(self):
        """Closes its sockets and returns the last report."""
        self.tell("quit")
        report = self.read()
        if self.process.wait(DEADLINE_S) != 0:
            raise AssertionError(f"telegate_peer exited with {self.process.returncode}")
        return report

    def cpu_s(self):
        """Returns the CPU time that it has used so far."""
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss_bytes(self):
        with open(f"/proc/{self.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            try:
                stream.close()
            except BrokenPipeError:  # a command that it never read
                pass
