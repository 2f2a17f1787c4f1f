"""Devices that hang: peers that accept a connection but send nothing, one that does not accept it, ptys and programs.

Other devices must still be read on time, and the gateway must stop immediately. Run by ctest with the path of the
program in TELEGATE_GATEWAY_APP.
"""

import os
import pty
import select
import socket
import threading
import time
import tty

from device_peers import DeviceTest, main, time_ns
from gateway_process import OWN_ADDRESS

STOP_S = 8  # the readings that hang here take 10 s or more
HOLE_S = 2  # half of the time that readings hang here; delays of a busy machine are shorter

HEALTHY = """[device "sampled"]
driver = simulated
waveforms = counter
interval_ms = 50
[device "clock"]
driver = clock
interval_ms = 50
[device "talks"]
driver = serial
port = {folder}/talks
silence_ms = 0
"""
ONE_TRY = "breaker_failures = 1\nbreaker_wait_ms = 30s\ninterval_ms = 100\n"
HUNG = """[device "silent"]
driver = modbus
endpoint = tcp://{silent}
timeout_ms = 4s
""" + ONE_TRY + """[channel "silent/x"]
address = 1
[device "full"]
driver = modbus
endpoint = tcp://{full}
timeout_ms = 4s
""" + ONE_TRY + """[channel "full/x"]
address = 1
[device "mute"]
driver = serial
port = {folder}/mute
silence_ms = 4s
breaker_failures = 1
breaker_wait_ms = 300
breaker_wait_max_ms = 300
[device "line"]
driver = modbus
endpoint = rtu://{folder}/line
timeout_ms = 4s
""" + ONE_TRY + """[channel "line/x"]
address = 1
[device "stuck"]
driver = exec
command = tail -f /dev/null
timeout_ms = 4s
""" + ONE_TRY
# A reading that lasts as long as the test.
WAITING = """[device "waits"]
driver = modbus
endpoint = tcp://{silent}
timeout_ms = 10s
[channel "waits/x"]
address = 1
[device "connects"]
driver = modbus
endpoint = tcp://{full}
timeout_ms = 10s
[channel "connects/x"]
address = 1
[device "writes"]
driver = modbus
endpoint = rtu://{folder}/line
timeout_ms = 10s
[channel "writes/x"]
address = 1
[device "runs"]
driver = exec
shell = yes
command = echo run >> {folder}/runs; tail -f /dev/null
timeout_ms = 1h
"""


class SilentPeer:
    """Accepts every connection, reads, and never replies."""

    def __init__(self):
        self.listener = socket.create_server((OWN_ADDRESS, 0))
        self.address = "%s:%d" % self.listener.getsockname()
        self.heard, self.ended = 0, threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)  # if a set-up fails
        self.thread.start()

    def run(self):
        peers = [self.listener]
        while not self.ended.is_set():
            for each in select.select(peers, [], [], 0.1)[0]:
                if each is self.listener:
                    peers.append(each.accept()[0])
                    continue
                try:
                    data = each.recv(4096)
                except ConnectionError:
                    data = b""
                self.heard += len(data)
                if not data:
                    peers.remove(each)
                    each.close()
        for each in peers:
            each.close()

    def close(self):
        self.ended.set()
        self.thread.join()


class FullPeer:
    """Its accept queue is full, so that new connections are neither accepted nor refused."""

    def __init__(self):
        self.listener = socket.create_server((OWN_ADDRESS, 0), backlog=0)
        self.address = "%s:%d" % self.listener.getsockname()
        self.others = []
        for _ in range(4):
            self.others.append(socket.socket())
            self.others[-1].setblocking(False)
            self.others[-1].connect_ex(self.listener.getsockname())

    def close(self):
        for each in (self.listener, *self.others):
            each.close()


class Talker:
    """A pty that sends a line as often as it can, or nothing."""

    def __init__(self, link):
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        os.symlink(os.ttyname(self.slave), link)

    def fill(self):
        """Writes until the pty is full, like a line stopped by flow control."""
        os.set_blocking(self.slave, False)
        try:
            while os.write(self.slave, b"x" * 512):
                pass
        except BlockingIOError:
            pass

    def say(self, line):
        try:
            os.write(self.master, line)
        except BlockingIOError:  # the reader is slow
            pass

    def close(self):
        os.close(self.master)
        os.close(self.slave)


class Hung(DeviceTest):
    def setUp(self):
        folder = self.scratch()
        peers = {"silent": SilentPeer(), "full": FullPeer()}
        self.talks, self.mute = Talker(os.path.join(folder, "talks")), Talker(os.path.join(folder, "mute"))
        line = Talker(os.path.join(folder, "line"))
        line.fill()
        for each in (*peers.values(), self.talks, self.mute, line):
            self.addCleanup(each.close)
        self.silent, self.runs = peers["silent"], os.path.join(folder, "runs")
        self.places = {"{folder}": folder, **{"{%s}" % name: peer.address for name, peer in peers.items()}}

    def filled(self, settings):
        for place, value in self.places.items():
            settings = settings.replace(place, value)
        return settings

    def gateway(self, settings):
        return self.start(self.filled(settings))

    def run_count(self):
        try:
            return os.path.getsize(self.runs) // len("run\n")
        except FileNotFoundError:
            return 0

    def hears_talks(self, gateway, number):
        def heard():
            self.talks.say(b"n=%d\n" % number)
            return gateway.value("talks/n") == number
        self.eventually(heard, f"talks/n = {number}", lambda: gateway.device("talks"))

    def test_each_hung_device_is_reported_and_no_other_device_is_late(self):
        gateway = self.gateway(HEALTHY + HUNG)
        before = {name: gateway.device(name) for name in ("sampled", "clock")}
        reader = self.reader(gateway)
        self.hears_talks(gateway, 1)

        def mute_speaks():  # once, and then never again
            self.mute.say(b"n=1\n")
            return gateway.value("mute/n") == 1
        self.eventually(mute_speaks, "mute/n", lambda: gateway.device("mute"))
        for name, words in (("silent", "no response within 4000 ms"), ("full", ""), ("mute", "no valid line for 4 s"),
                            ("line", ""), ("stuck", "did not end within 4000 ms")):
            device = self.state_becomes(gateway, name, "error", breaker="open")
            self.assertIn(words, device["last_error"])
            self.assertTrue(device["last_error"])
        self.assertGreater(self.silent.heard, 0)
        for topic in ("silent/x", "full/x", "line/x", "mute/n"):
            self.eventually(lambda topic=topic: (gateway.latest(topic) or {}).get("quality") == "bad", topic + " is bad")
            self.assertIsNone(gateway.latest(topic)["value"])
        for name, then in before.items():
            self.on_time(gateway, name, then)
        for topic in ("sampled/counter", "clock/clock.steps"):
            times = [time_ns(each["time"]) / 1e9 for each in reader.of(topic)]
            self.assertLess(max(after - then for then, after in zip(times, times[1:])), HOLE_S, topic)
        self.hears_talks(gateway, 2)
        self.assertEqual(0, gateway.device("talks")["reads_failed"])
        self.assertEqual(1, gateway.metric('telegate_device_breaker_state{device="silent",state="open"}'))
        self.assertEqual(1, gateway.metric('telegate_device_state{device="silent",state="error"}'))
        self.assertLess(gateway.stop(), STOP_S)
        self.assertEqual(0, gateway.process.returncode)

    def test_the_gateway_stops_while_readings_are_in_progress(self):
        gateway = self.gateway(HEALTHY + WAITING)
        self.hears_talks(gateway, 1)
        self.eventually(lambda: self.silent.heard, "a request")
        self.eventually(lambda: os.path.exists(self.runs), "a run")
        self.assertLess(gateway.stop(), STOP_S)
        self.assertEqual(0, gateway.process.returncode)
        self.assertIn("balanced=true", gateway.log())
        self.assertNotIn("balanced=false", gateway.log())

    def test_a_device_with_a_reading_in_progress_can_be_stopped_and_started(self):
        gateway = self.gateway(HEALTHY + WAITING)
        before = gateway.device("sampled")
        for name, goes_on in (("waits", lambda: self.silent.heard), ("runs", self.run_count)):
            first = self.eventually(goes_on, "a reading of " + name)
            gateway.text(f"/devices/{name}/stop", "POST")
            self.state_becomes(gateway, name, "idle")
            gateway.text(f"/devices/{name}/start", "POST")
            self.eventually(lambda goes_on=goes_on, first=first: goes_on() > first, "the next reading of " + name,
                            lambda name=name: gateway.device(name))
        self.on_time(gateway, "sampled", before)
        self.assertLess(gateway.stop(), STOP_S)

    def test_settings_of_a_device_with_a_reading_in_progress_can_be_changed(self):
        gateway = self.gateway(HEALTHY + WAITING)
        before = gateway.device("sampled")
        self.eventually(lambda: self.silent.heard and self.run_count(), "readings of both")
        gateway.write(self.filled(HEALTHY + WAITING.replace("10s", "150ms").replace("1h", "150ms")))
        begin = time.monotonic()
        answer = gateway.json("/-/reload", "POST")
        self.assertLess(time.monotonic() - begin, STOP_S)
        self.assertEqual("applied", answer["outcome"])
        for name, words in (("waits", "no response within 150 ms"), ("runs", "did not end within 150 ms")):
            self.eventually(lambda name=name, words=words: words in (gateway.device(name)["last_error"] or ""), words,
                            lambda name=name: gateway.device(name))
        self.on_time(gateway, "sampled", before)
        self.assertLess(gateway.stop(), STOP_S)


if __name__ == "__main__":
    main()
