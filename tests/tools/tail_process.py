"""A gateway_tail process and a stand-in gateway, for tests of gateway_tail."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

try:
    import zmq  # noqa: F401
except ImportError:
    print("skipped: this Python has no pyzmq (Debian package python3-zmq)")
    sys.exit(77)

from stand_in_gateway import DEADLINE_S, StandIn

TAIL = os.environ["TELEGATE_TAIL"]
A, B = "host/cpu.user", "host/cpu.system"


class TailProcess:
    def __init__(self, scratch, arguments, stdout=None, environment=None):
        self.report_path = os.path.join(scratch, "report.json")
        self.paths = [os.path.join(scratch, name) for name in ("out", "err")]
        with open(self.paths[0], "wb") as out, open(self.paths[1], "wb") as err:
            report = [] if "--report" in arguments else ["--report", self.report_path]
            self.process = subprocess.Popen([TAIL, *report, *arguments], stdin=subprocess.DEVNULL,
                                            stdout=stdout or out, stderr=err, env={**os.environ, **(environment or {})})

    def read(self, which):
        with open(self.paths[which], encoding="utf-8") as file:
            return file.read()

    def out(self):
        return self.read(0)

    def err(self):
        return self.read(1)

    def lines(self):
        return self.out().splitlines()

    def report(self):
        with open(self.report_path, encoding="utf-8") as file:
            return json.load(file)

    def kill(self):
        self.process.kill()
        self.process.wait()


class TailTest(unittest.TestCase):
    transport = "ipc"
    payload_format = "json"

    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="telegate-test-")
        self.addCleanup(shutil.rmtree, self.scratch)

    def gateway(self, **options):
        places = [f"ipc://{self.scratch}/g-pub.ipc", f"ipc://{self.scratch}/g-services.ipc"]
        if self.transport == "tcp":
            places = ["tcp://127.0.0.1:*", "tcp://127.0.0.1:*"]
        self.served = StandIn(*places, payload_format=self.payload_format, **options)
        self.addCleanup(self.served.close)
        return self.served

    @staticmethod
    def run_tail(*arguments):
        return subprocess.run([TAIL, *arguments], capture_output=True, text=True, timeout=DEADLINE_S)

    def start(self, arguments, stdout=None, environment=None):
        tail = TailProcess(self.scratch, arguments, stdout, environment)
        self.addCleanup(tail.kill)
        return tail

    def tail(self, *arguments, stdout=None, environment=None, begins=True):
        places = [self.served.places["publish"]]
        if self.transport == "tcp":
            places += ["--services", self.served.places["services"]]
        tail = self.start([*places, *arguments], stdout, environment)
        if begins:
            self.served.serve_until(lambda: self.served.subscribed > 0, "a subscription")
            self.served.serve_until(lambda: self.served.requests, "a request")
        return tail

    def wait_for(self, condition, what):
        self.served.serve_until(condition, what)

    def wait_for_seq(self, tail, topic, seq):
        """Waits until the sample is in the JSON output."""
        device, channel = topic.split("/")
        mark = f'"channel":"{channel}","epoch":{self.served.epoch},"seq":{seq},'
        self.wait_for(lambda: mark in tail.out(), f"{topic} {seq}: {tail.out()[-300:]} {tail.err()}")

    def end(self, tail, with_signal=signal.SIGINT):
        if with_signal:
            tail.process.send_signal(with_signal)
        self.wait_for(lambda: tail.process.poll() is not None, "the end: " + tail.err())
        return tail.process.returncode

    def seqs(self, tail, topic=A, epoch=None):
        samples = [json.loads(line) for line in tail.lines()]
        return [each["seq"] for each in samples if f"{each['device']}/{each['channel']}" == topic
                and each["epoch"] == (epoch or self.served.epoch)]

    def entry(self, tail, topic=A, epoch=None):
        for each in tail.report()["epochs"]:
            if each["epoch"] == (epoch or self.served.epoch):
                return next(found for found in each["topics"] if found["topic"] == topic)
        return None

    def lost(self, tail, topic=A, epoch=None):
        return [(each["first_seq"], each["last_seq"], each["reason"]) for each in self.entry(tail, topic, epoch)["lost"]]

    def begun(self, *arguments, **options):
        """Starts a gateway_tail that has output sample 1 of A."""
        self.gateway(**options)
        tail = self.tail("--json", *arguments)
        self.served.publish(A)
        self.wait_for_seq(tail, A, 1)
        return tail
