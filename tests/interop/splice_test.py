"""Tests docs/splice.py, an exact splice on plain pyzmq, with bursts, a cut connection and a restart of the gateway.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP.
"""

import collections
import json
import os
import re
import socket
import subprocess
import sys
import threading
import unittest

from patient_http import body_of
from services_peer import SOURCE, zmq
from gateway_process import DEADLINE_S, Gateway, eventually

PLACES = """[publish "ipc"]
endpoint = ipc://{folder}/pub.ipc
[services "ipc"]
endpoint = ipc://{folder}/services.ipc
"""

SETTINGS = """history_bytes = 4MiB
sampling_interval_ms = 5
queue_size = 512
state_file = {folder}/state.json
[rest]
listen =
PLACES
[device "simulated"]
driver = simulated
waveforms = sine, counter, ramp
burst_probability = 0.05
burst_samples = 400
"""

TWO_DEVICES = """heartbeat_ms = HEARTBEAT
history_bytes = 4MiB
[rest]
listen = 127.0.0.1:0
PLACES
[device "simulated"]
driver = simulated
waveforms = counter
interval_ms = 100
[device "simulated.other"]
driver = simulated
waveforms = counter
interval_ms = 50
autostart = AUTOSTART
"""


class Line:
    """A Unix socket that forwards to another one until it is closed."""

    def __init__(self, path, target):
        self.target, self.ends, self.is_open = target, [], True
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            try:
                if not self.is_open:
                    raise OSError
                far.connect(self.target)
            except OSError:
                near.close()
                far.close()
                continue
            self.ends += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    @staticmethod
    def carry(one, other):
        try:
            while data := one.recv(65536):
                other.sendall(data)
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        for end in self.ends:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()
        self.cut()


class Told:
    """The output of the splice: the seqs by topic and epoch in order of output, received or lost."""

    def __init__(self, path):
        self.path = path

    def read(self):
        ranges = collections.defaultdict(list)
        given, lost = collections.Counter(), collections.Counter()
        with open(self.path) as file:
            lines = file.read().split("\n")[:-1]
        for each in map(json.loads, lines):
            if "lost" in each:
                topic, epoch, first, last, why = each["lost"]
                ranges[topic, epoch].append((first, last))
                lost[why] += last - first + 1
            else:
                topic, epoch = each["device"] + "/" + each["channel"], each["epoch"]
                ranges[topic, epoch].append((each["seq"], each["seq"]))
                given[epoch] += 1
        return ranges, given, lost


class SpliceTest(unittest.TestCase):
    def begin(self, settings):
        """Starts a gateway, a line to it, and the splice. Returns them with the output of the splice and its process."""
        gateway = Gateway(settings.replace("PLACES\n", PLACES))
        self.addCleanup(gateway.close)
        line = Line(gateway.path("line.ipc"), gateway.path("pub.ipc"))
        self.addCleanup(line.close)
        told = Told(gateway.path("told"))
        with open(told.path, "w") as output:
            splice = subprocess.Popen([sys.executable, "-B", os.path.join(SOURCE, "docs/splice.py"), "ipc://" + gateway.path("line.ipc"),
                                       "ipc://" + gateway.path("services.ipc"), "simulated"], stdout=output)
        self.addCleanup(splice.wait)
        self.addCleanup(splice.kill)
        return gateway, line, told, splice

    def last(self, topic):
        return json.loads(body_of(self.rest, "/status", "GET", DEADLINE_S))["channels"]["last"].get(topic, {}).get("seq", 0)

    def command(self, device, what):
        body_of(self.rest, f"/devices/{device}/{what}", "POST", DEADLINE_S)

    def begin_two(self, beats, autostart):
        settings = TWO_DEVICES.replace("HEARTBEAT", beats).replace("AUTOSTART", autostart)
        gateway, line, told, _ = self.begin(settings)
        self.rest = re.search(r" running rest=(\S+)", gateway.log()).group(1)
        return gateway, line, lambda topic: [first for (name, _), pieces in told.read()[0].items() if name == topic for first, _ in pieces]

    def test_a_channel_that_fell_silent_while_disconnected_is_completed_while_others_continue(self):
        _, line, seqs = self.begin_two(beats="0", autostart="yes")
        self.assertTrue(eventually(lambda: len(seqs("simulated/counter")) > 2))
        line.is_open = False
        line.cut()
        seen = self.last("simulated/counter")
        self.assertTrue(eventually(lambda: self.last("simulated/counter") > seen + 3))
        self.command("simulated", "stop")
        line.is_open = True
        self.assertTrue(eventually(lambda: seqs("simulated/counter")[-1] >= self.last("simulated/counter")))
        told = seqs("simulated/counter")
        self.assertEqual(told, list(range(told[0], told[0] + len(told))))

    def test_heartbeat_notices_of_a_channel_without_samples_are_ignored(self):
        gateway, _, seqs = self.begin_two(beats="50", autostart="no")
        subscriber = zmq.Context.instance().socket(zmq.SUB)
        self.addCleanup(subscriber.close, 0)
        subscriber.subscribe(b"simulated.other/counter$beat")
        subscriber.connect(gateway.endpoints[0])
        self.assertEqual(json.loads(subscriber.recv_multipart()[1])["seq"], 0)
        self.assertTrue(eventually(lambda: len(seqs("simulated/counter")) > 2))
        self.command("simulated.other", "start")
        self.assertTrue(eventually(lambda: len(seqs("simulated.other/counter")) > 5))
        self.assertEqual(seqs("simulated.other/counter")[:5], [1, 2, 3, 4, 5])

    def test_each_sample_is_received_once_or_reported_as_lost(self):
        gateway, line, told, splice = self.begin(SETTINGS)

        def wait_for(samples):
            self.assertTrue(eventually(lambda: splice.poll() is not None or sum(told.read()[1].values()) >= samples))
            self.assertIsNone(splice.poll())

        wait_for(2000)
        for _ in range(3):
            line.cut()
            wait_for(sum(told.read()[1].values()) + 3000)
        gateway.stop()
        gateway.start()
        self.assertTrue(eventually(lambda: len(told.read()[0]) == 6))  # three topics in two epochs
        wait_for(sum(told.read()[1].values()) + 3000)
        splice.terminate()
        splice.wait()
        ranges, given, lost = told.read()
        self.check(ranges, gateway)
        self.assertGreater(lost["dropped"], 0)
        print("given", dict(given), "lost", dict(lost))

    def check(self, ranges, gateway):
        with open(gateway.path("state.json")) as file:
            old = json.load(file)["epochs"][-2]
        self.assertEqual(len(ranges), 6)
        for (topic, epoch), pieces in ranges.items():
            following = pieces[0][0] if epoch == old["epoch"] else 1
            for first, last in pieces:
                self.assertEqual(first, following, f"{topic} in {epoch}")
                following = last + 1
            if epoch == old["epoch"]:
                self.assertEqual(following - 1, old["channels"][topic], "the end of the old epoch is known")


if __name__ == "__main__":
    unittest.main(verbosity=2)
