"""A plain pyzmq subscriber determines exactly what it has missed, from gap and heartbeat notices (docs/wire.md).

A gateway has a small queue and a device with bursts, or a subscriber that does not read. At the end, the received samples
and the reported losses must be all seqs of each channel, in order, each once. Run by ctest with the path of the program in TELEGATE_GATEWAY_APP.
"""

import json
import struct
import sys
import unittest

try:
    import zmq
except ImportError:
    print("skipped: this Python has no pyzmq (Debian package python3-zmq)")
    sys.exit(77)

from gateway_process import Gateway, eventually  # noqa: E402

LOSSES_LEAST = 20_000  # of the queue
LOST_LEAST = 2_000  # of a subscriber

SETTINGS = """queue_size = 100
heartbeat_ms = 100
[queue]
policy = POLICY
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
    """Tracks each channel as a subscriber: the next seq, the number of received samples and of reported losses. `first` is
    the first seq of each channel, or None if the subscriber connects later."""

    def __init__(self, context, endpoint, form, reason="queue_overflow", first=1, **options):
        self.form, self.reason, self.first = form, reason, first
        self.wait_ms = 20 if "rcvhwm" in options else 0  # a socket with a short queue has the next message later
        self.socket = context.socket(zmq.SUB)
        for name, value in {"rcvhwm": 0, **options}.items():
            setattr(self.socket, name, value)
        self.socket.subscribe(b"")
        self.socket.connect(endpoint)
        self.next, self.got, self.lost, self.beats, self.faults = {}, {}, {}, {}, []

    def read(self):
        """Receives the messages that have arrived, up to a limit: a busy machine may receive faster than it can
        process."""
        for _ in range(1_000):
            if not self.socket.poll(self.wait_ms):
                break
            topic, payload = self.socket.recv_multipart()
            name, _, notice = topic.decode().partition("$")
            for item in objects(payload, self.form):
                if (notice or "sample") != item[0]:
                    self.faults.append(f"{topic}: {item}")
                self.note(name, item)

    def note(self, name, item):
        expected = self.next.get(name, self.first or item[1] + (item[0] == "beat"))
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
            if item[3] != self.reason:
                self.faults.append(f"{name}: {item}")
            self.lost[name] = self.lost.get(name, 0) + item[2] - item[1] + 1
            self.next[name] = item[2] + 1


class Gaps(unittest.TestCase):
    def start(self, policy):
        self.gateway = Gateway(SETTINGS.replace("POLICY", policy))
        self.addCleanup(self.gateway.close)
        context = zmq.Context()
        self.addCleanup(context.destroy, 0)
        readers = [Reader(context, at, form) for at, form in zip(self.gateway.endpoints, ("json", "cbor", "record"))]
        for reader in readers:
            self.addCleanup(reader.socket.close, 0)
        return readers

    def check(self, readers):
        def dropped():
            for reader in readers:
                reader.read()
            return self.gateway.status()["ledger"]["total"]["dropped"]["queue_overflow"] > LOSSES_LEAST
        eventually(dropped)
        self.gateway.text("/stop", "POST")
        eventually(lambda: self.gateway.status()["ledger"]["total"]["queued"] == 0)
        ledger = {each["topic"]: each["ledger"] for each in self.gateway.json("/channels")["channels"]}

        def all_known():
            for reader in readers:
                reader.read()
            return all(reader.next.get(topic, 1) == book["sampled"] + 1 and reader.beats.get(topic)
                       for reader in readers for topic, book in ledger.items() if book["sampled"])
        eventually(all_known)
        for reader in readers:
            self.assertEqual([], reader.faults[:5], reader.form)
            for topic, book in ledger.items():
                self.assertEqual(book["published"], reader.got.get(topic, 0), topic)
                self.assertEqual(book["dropped"]["queue_overflow"], reader.lost.get(topic, 0), topic)
                self.assertEqual(book["sampled"], book["published"] + book["dropped"]["queue_overflow"], topic)
        status = self.gateway.status()
        self.assertTrue(status["ledger"]["balanced"])
        for form in ("json", "cbor", "record"):
            self.assertGreater(status["transport"]["notices"][form]["gaps"], 0)
            self.assertGreater(status["transport"]["notices"][form]["beats"], 0)

    def run_with(self, policy):
        readers = self.start(policy)
        eventually(lambda: self.gateway.status()["transport"]["subscriptions"] == len(readers))
        self.gateway.text("/start", "POST")
        self.check(readers)

    def test_the_oldest_samples_are_dropped(self):
        self.run_with("drop_oldest")

    def test_the_newest_samples_are_refused(self):
        self.run_with("drop_newest")


SLOW = """[rest]
listen = 127.0.0.1:0
[publish "json"]
endpoint = tcp://127.0.0.1:0
backlog_bytes = 65536
policy = POLICY
[device "sim"]
driver = simulated
interval_us = 200
"""
STALLING = {"rcvhwm": 1, "rcvbuf": 4_096}


class Slow(unittest.TestCase):
    def start(self, settings, **options):
        self.gateway = Gateway(settings)
        self.addCleanup(self.gateway.close)
        self.context = zmq.Context()
        self.addCleanup(self.context.destroy, 0)
        return self.reader(**options)

    def reader(self, **options):
        reader = Reader(self.context, self.gateway.endpoints[0], "json", "slow", None, **STALLING, **options)
        self.addCleanup(reader.socket.close, 0)
        return reader

    def subscriber(self):
        return next(iter(self.gateway.status()["transport"]["subscribers"]), None)

    def becomes(self, condition):
        """Waits until the condition holds for the subscriber, and returns that."""
        return eventually(lambda: (seen := self.subscriber()) and condition(seen) and seen, self.subscriber)

    def check_notified(self, policy):
        reader = self.start("queue_size = 100000\n" + SLOW.replace("POLICY", policy))
        self.becomes(lambda seen: seen["losses"].get("slow", {"count": 0})["count"] > LOST_LEAST)

        def is_read():
            reader.read()
            return sum(reader.got.values()) > LOST_LEAST
        eventually(is_read, "samples while publishing continues")
        self.gateway.text("/devices/sim/stop", "POST")

        def is_complete():
            reader.read()
            status = self.gateway.status()
            return status["ledger"]["total"]["queued"] == 0 and self.subscriber()["pending"] == 0 and all(
                reader.next.get(topic) == last["seq"] + 1 for topic, last in status["channels"]["last"].items())
        eventually(is_complete, lambda: f"all seqs: {reader.next}")
        seen = self.subscriber()
        self.assertEqual([], reader.faults[:5])
        self.assertEqual(seen["losses"]["slow"]["count"], sum(reader.lost.values()))
        first, last = seen["losses"]["slow"]["first"], seen["losses"]["slow"]["last"]
        self.assertTrue(first["topic"].startswith("sim/"), first)
        self.assertTrue(0 < first["seq"] <= last["seq"], (first, last))

    def test_a_stalled_subscriber_is_notified_of_the_oldest_samples_that_it_missed(self):
        self.check_notified("drop_oldest")

    def test_a_stalled_subscriber_is_notified_of_the_newest_samples_that_it_missed(self):
        self.check_notified("drop_newest")

    def test_a_new_subscription_gets_the_last_values_first_then_each_sample_once(self):
        settings = SLOW.replace("backlog_bytes = 65536\npolicy = POLICY", "last_value = yes").replace("200", "500")
        self.start(settings + '[device "slow"]\ndriver = simulated\ninterval_ms = 3600000\n').socket.close(0)
        eventually(lambda: len(self.gateway.status()["channels"]["last"]) == 12, "all channels")
        for _ in range(3):
            reader = self.reader()

            def has_all():
                reader.read()
                return sum(reader.got.values()) >= 500
            eventually(has_all, "500 samples")
            self.assertEqual(12, len(reader.next))  # including those of the slow device, which has no new samples
            self.assertEqual([], reader.faults[:5])
            self.assertEqual({}, reader.lost)
            reader.socket.close(0)

    def test_a_blocking_subscriber_blocks_publishing_but_not_the_gateway_and_loses_nothing(self):
        reader = self.start("queue_size = 1000\nheartbeat_ms = 0\n" + SLOW.replace("POLICY", "block"))
        reader.reason = "queue_overflow"
        self.becomes(lambda seen: seen["blocking"])
        eventually(lambda: self.gateway.status()["ledger"]["total"]["dropped"]["queue_overflow"], "a full queue")
        self.assertIn("ok", self.gateway.text("/livez"))  # it is not considered hung

        def is_read():
            reader.read()
            return sum(reader.got.values()) > 5 * LOST_LEAST
        eventually(is_read, "samples while publishing is blocked")
        self.assertEqual([], reader.faults[:5])
        self.assertEqual(0, self.becomes(lambda seen: seen["blocking"])["dropped"])
        self.gateway.stop()
        self.assertEqual(0, self.gateway.process.returncode)


if __name__ == "__main__":
    unittest.main(verbosity=2)
