"""A running gateway_app with devices, and its clients: samples, /status, /metrics."""

import calendar
import json
import os
import re
import shutil
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

import gateway_process  # noqa: E402
from gateway_process import eventually  # noqa: E402

APP = os.environ["TELEGATE_GATEWAY_APP"]

HEAD = """[rest]
listen = 127.0.0.1:0
[publish "json"]
endpoint = tcp://127.0.0.1:0
"""


def alive(pid):
    """Returns whether the process exists and is not a zombie."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def time_ns(text):
    """Parses the member `time` of a sample."""
    seconds, fraction = text.rstrip("Z").split(".")
    return calendar.timegm(time.strptime(seconds, "%Y-%m-%dT%H:%M:%S")) * 10 ** 9 + int(fraction)


class Gateway(gateway_process.Gateway):
    """Begins with the settings of HEAD."""

    def write(self, settings):
        super().write(HEAD + settings)

    def device(self, name):
        """Returns a device of /status."""
        return next(each for each in self.status()["sampler"]["devices"] if each["name"] == name)

    def latest(self, topic):
        """Returns the last sample of a channel, or None."""
        for each in self.json("/samples/latest")["samples"]:
            if each["device"] + "/" + each["channel"] == topic:
                return each
        return None

    def value(self, topic):
        """Returns the last value of a channel if its quality is good, else None."""
        sample = self.latest(topic)
        return sample["value"] if sample and sample["quality"] == "good" else None

    def metric(self, name):
        found = re.search(rf"^{re.escape(name)} (\S+)$", self.text("/metrics"), re.M)
        return float(found.group(1)) if found else None


RECORD = struct.Struct("<qqQBBBBI32s")  # docs/wire.md
QUALITIES = ("good", "uncertain", "bad", "stale")


def from_records(payload):
    """Returns the samples of a payload in the format `record`, with the members of the JSON format that are compared."""
    for time_ns, epoch, seq, kind, quality, _, text_bytes, _, value in RECORD.iter_unpack(payload):
        values = {0: lambda: None, 1: lambda: struct.unpack_from("<d", value)[0],
                  2: lambda: struct.unpack_from("<q", value)[0], 3: lambda: value[0] == 1,
                  4: lambda: value[:text_bytes].decode()}
        yield {"time_ns": time_ns, "epoch": epoch, "seq": seq, "value": values[kind](), "quality": QUALITIES[quality]}


class Reader:
    """A SUB socket and the samples that it received: by topic, and the topics in order of arrival."""

    def __init__(self, endpoint, prefix="", form="json"):
        self.form, self.order = form, []
        self.socket = zmq.Context.instance().socket(zmq.SUB)
        self.socket.linger, self.socket.rcvhwm = 0, 0
        self.socket.subscribe(prefix.encode())
        self.socket.connect(endpoint)
        self.samples = {}

    def read(self):
        """Receives all messages that have arrived."""
        while self.socket.poll(0):
            topic, payload = self.socket.recv_multipart()
            if b"$" in topic:
                continue
            part = [json.loads(payload)] if self.form == "json" else list(from_records(payload))
            self.samples.setdefault(topic.decode(), []).extend(part)
            self.order.extend([topic.decode()] * len(part))
        return self.samples

    def of(self, topic):
        return self.read().get(topic, [])

    def values(self, topic):
        return [each["value"] for each in self.of(topic)]

    def close(self):
        self.socket.close()


class DeviceTest(unittest.TestCase):
    """Stops the programs started by a test, and prints the logs of the gateways if the test failed."""

    def start(self, settings, folder=None, **options):
        gateway = Gateway(settings, folder, **options)
        self.addCleanup(gateway.close)
        return gateway

    def scratch(self):
        folder = tempfile.mkdtemp(prefix="telegate-test-")
        self.addCleanup(shutil.rmtree, folder)
        return folder

    def reader(self, gateway, prefix="", endpoint=0, form="json"):
        """Returns a reader that is subscribed."""
        before = gateway.status()["transport"]["subscriptions"]
        reader = Reader(gateway.endpoints[endpoint], prefix, form)
        self.addCleanup(reader.close)
        self.eventually(lambda: gateway.status()["transport"]["subscriptions"] > before, "a subscription")
        return reader

    def run_process(self, command, **options):
        process = subprocess.Popen(command, **options)

        def end():
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()
        self.addCleanup(end)
        return process

    def eventually(self, condition, what, seen=None):
        """Fails with the value of `seen` if `condition` does not become true."""
        return eventually(condition, lambda: what + (f"; {seen()}" if seen else ""))

    def value_becomes(self, gateway, topic, value):
        self.eventually(lambda: gateway.value(topic) == value, f"{topic} = {value!r}", lambda: gateway.latest(topic))

    def state_becomes(self, gateway, name, state, **members):
        """Waits until /status shows these values for a device; returns the device."""
        expected = {"state": state, **members}

        def holds():
            device = gateway.device(name)
            return device if all(device[key] == value for key, value in expected.items()) else None
        return self.eventually(holds, f"{name}: {expected}", lambda: gateway.device(name))

    def on_time(self, gateway, name, before, reads=20):
        """Checks that since `before` the device was read at its interval and without a failure. A busy machine may miss
        some readings, but a device blocked by a hung one misses nearly all."""
        self.eventually(lambda: gateway.device(name)["reads"] >= before["reads"] + reads, f"readings of {name}")
        after = gateway.device(name)
        grown = {key: after[key] - before[key] for key in ("reads", "ticks_missed", "reads_failed", "reads_skipped")}
        self.assertLessEqual(grown["ticks_missed"], max(2, grown["reads"] // 2), (name, grown))
        self.assertEqual((0, 0, "measuring"), (grown["reads_failed"], grown["reads_skipped"], after["state"]), name)


def main():
    """Like unittest.main(), but if no test could run, reports this to ctest."""
    result = unittest.main(verbosity=2, exit=False).result
    if result.wasSuccessful() and len(result.skipped) == result.testsRun:
        sys.exit(77)
    sys.exit(not result.wasSuccessful())
