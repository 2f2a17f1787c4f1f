"""A plain pyzmq subscriber determines exactly what it has missed, from gap and heartbeat notices (docs/wire.md).

A gateway has a small queue and a device with bursts. At the end, the received samples and the reported losses must be
all seqs of each channel, in order, each once. Run by ctest with the path of the program in TELEGATE_GATEWAY_APP.
"""

import json
import os
import re
import select
import struct
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import zmq
except ImportError:
    print("skipped: this Python has no pyzmq (Debian package python3-zmq)")
    sys.exit(77)

from patient_http import body_of  # noqa: E402

APP = os.environ["TELEGATE_GATEWAY_APP"]
DEADLINE_S = 60  # generous: sanitizer builds on a busy machine
LOSSES_LEAST = 20_000

SETTINGS = """queue_size = 100
heartbeat_ms = 100
[queue]
policy = {policy}
[rest]
listen = 127.0.0.1:0
[publish "json"]
endpoint = tcp://127.0.0.1:0
[publish "cbor"]
endpoint = tcp://127.0.0.1:0
format = cbor
[publish "record"]
endpoint = tcp://127.0.0.1:0
format = record
[device "d"]
driver = simulated
waveforms = sine, ramp, counter
autostart = no
interval_ms = 2
burst_probability = 0.3
burst_samples = 300
[device "quiet"]
driver = simulated
waveforms = sine
autostart = no
interval_ms = 300
"""
RECORD = struct.Struct("<qqQBBBBI32s")
GAP, BEAT = 16, 17
REASONS = {1: "queue_overflow", 2: "shutdown", 3: "slow", 4: "expired"}


def cbor(data):
    """Decodes the first item of `data` and returns it with the rest: the part of RFC 8949 that the format needs."""
    major, number, data = data[0] >> 5, data[0] & 31, data[1:]
    if major == 7:
        if number == 27:
            return struct.unpack(">d", data[:8])[0], data[8:]
        return {20: False, 21: True, 22: None}[number], data
    if number >= 24:
        size = 1 << (number - 24)
        number, data = int.from_bytes(data[:size], "big"), data[size:]
    if major == 3:
        return data[:number].decode(), data[number:]
    if major != 5:
        return (number if major == 0 else -1 - number), data
    result = {}
    for _ in range(number):
        key, data = cbor(data)
        result[key], data = cbor(data)
    return result, data


def objects(payload, form):
    """Returns the samples or the notice of a payload as ("sample", seq), ("gap", first, last, reason) or ("beat", seq)."""
    if form == "record":
        for _, _, seq, kind, _, _, _, _, value in RECORD.iter_unpack(payload):
            if kind == GAP:
                yield ("gap", seq, struct.unpack_from("<Q", value)[0], REASONS[value[8]])
            else:
                yield ("beat" if kind == BEAT else "sample", seq)
        return
    item = json.loads(payload) if form == "json" else cbor(payload)[0]
    if "first_seq" in item:
        yield ("gap", item["first_seq"], item["last_seq"], item["reason"])
    else:
        yield ("sample" if "value" in item else "beat", item["seq"])


class Reader:
    """Tracks each channel as a subscriber: the next seq, the number of received samples and of reported losses."""

    def __init__(self, context, endpoint, form):
        self.form = form
        self.socket = context.socket(zmq.SUB)
        self.socket.rcvhwm = 0
        self.socket.subscribe(b"")
        self.socket.connect(endpoint)
        self.next, self.got, self.lost, self.beats, self.faults = {}, {}, {}, {}, []

    def read(self):
        """Receives the messages that have arrived, up to a limit: a busy machine may receive faster than it can
        process."""
        for _ in range(1_000):
            if not self.socket.poll(0):
                break
            topic, payload = self.socket.recv_multipart()
            name, _, notice = topic.decode().partition("$")
            for item in objects(payload, self.form):
                if (notice or "sample") != item[0]:
                    self.faults.append(f"{topic}: {item}")
                self.note(name, item)

    def note(self, name, item):
        expected = self.next.get(name, 1)
        if item[0] == "beat":
            self.beats[name] = self.beats.get(name, 0) + 1
            if item[1] != expected - 1:
                self.faults.append(f"{name}: got {item}, expected {expected}")
            return
        if item[1] != expected:
            self.faults.append(f"{name}: got {item}, expected {expected}")
        if item[0] == "sample":
            self.got[name] = self.got.get(name, 0) + 1
            self.next[name] = item[1] + 1
        else:
            if item[3] != "queue_overflow":
                self.faults.append(f"{name}: {item}")
            self.lost[name] = self.lost.get(name, 0) + item[2] - item[1] + 1
            self.next[name] = item[2] + 1


class Gaps(unittest.TestCase):
    def start(self, policy):
        folder = tempfile.TemporaryDirectory(prefix="telegate-test-")
        self.addCleanup(folder.cleanup)
        scratch = folder.name
        config, self.log = os.path.join(scratch, "gateway.ini"), os.path.join(scratch, "log")
        with open(config, "w") as file:
            file.write(SETTINGS.format(policy=policy))
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([APP, "--config", config], stderr=log)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        running = self.eventually(lambda: re.search(r" running rest=(\S+)((?: publish=\S+)*)", self.log_text()))
        self.rest, endpoints = running.group(1), re.findall(r"publish=(\S+)", running.group(2))
        context = zmq.Context()
        self.addCleanup(context.destroy, 0)
        readers = [Reader(context, at, form) for at, form in zip(endpoints, ("json", "cbor", "record"))]
        for reader in readers:
            self.addCleanup(reader.socket.close, 0)
        return readers

    def log_text(self):
        with open(self.log) as file:
            return file.read()

    def eventually(self, condition):
        end = time.monotonic() + DEADLINE_S
        while time.monotonic() < end:
            result = condition()
            if result:
                return result
            select.select([], [], [], 0.01)  # yields the processor; nothing depends on the duration
        self.fail("not in time")
        return None

    def ask(self, path, method="GET"):
        return json.loads(body_of(self.rest, path, method, DEADLINE_S))

    def check(self, readers):
        def dropped():
            for reader in readers:
                reader.read()
            return self.ask("/status")["ledger"]["total"]["dropped"]["queue_overflow"] > LOSSES_LEAST
        self.eventually(dropped)
        self.ask("/stop", "POST")
        self.eventually(lambda: self.ask("/status")["ledger"]["total"]["queued"] == 0)
        ledger = {each["topic"]: each["ledger"] for each in self.ask("/channels")["channels"]}

        def all_known():
            for reader in readers:
                reader.read()
            return all(reader.next.get(topic, 1) == book["sampled"] + 1 and reader.beats.get(topic)
                       for reader in readers for topic, book in ledger.items() if book["sampled"])
        self.eventually(all_known)
        for reader in readers:
            self.assertEqual([], reader.faults[:5], reader.form)
            for topic, book in ledger.items():
                self.assertEqual(book["published"], reader.got.get(topic, 0), topic)
                self.assertEqual(book["dropped"]["queue_overflow"], reader.lost.get(topic, 0), topic)
                self.assertEqual(book["sampled"], book["published"] + book["dropped"]["queue_overflow"], topic)
        status = self.ask("/status")
        self.assertTrue(status["ledger"]["balanced"])
        for form in ("json", "cbor", "record"):
            self.assertGreater(status["transport"]["notices"][form]["gaps"], 0)
            self.assertGreater(status["transport"]["notices"][form]["beats"], 0)

    def run_with(self, policy):
        readers = self.start(policy)
        self.eventually(lambda: self.ask("/status")["transport"]["subscriptions"] == len(readers))
        self.ask("/start", "POST")
        self.check(readers)

    def test_the_oldest_samples_are_dropped(self):
        self.run_with("drop_oldest")

    def test_the_newest_samples_are_refused(self):
        self.run_with("drop_newest")


if __name__ == "__main__":
    unittest.main(verbosity=2)
