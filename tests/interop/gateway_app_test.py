"""Tests the gateway as a user would: the program, its settings file, a pyzmq subscriber, /status and signals.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP.
"""

import calendar
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

try:
    import zmq
except ImportError:
    print("skipped: this Python has no pyzmq (Debian package python3-zmq)")
    sys.exit(77)

from gateway_process import DEADLINE_S, ENVIRONMENT, Gateway  # noqa: E402

APP = os.environ["TELEGATE_GATEWAY_APP"]
SOURCE = os.environ["TELEGATE_SOURCE_DIR"]

SETTINGS = """sampling_interval_ms = 10
[rest]
listen = 127.0.0.1:0
[publish "tcp"]
endpoint = tcp://127.0.0.1:0
[publish "ipc"]
endpoint = ipc://{folder}/pub.ipc
[device "host"]
driver = host
interval_ms = 100
[device "simulated"]
driver = simulated
"""
OTHER_FORMATS = """[publish "numbers"]
endpoint = tcp://127.0.0.1:0
format = record
[publish "small"]
endpoint = tcp://127.0.0.1:0
format = cbor
"""
RECORD = struct.Struct("<qqQBBBBI32s")  # docs/wire.md


class Subscriber:
    def __init__(self, endpoint):
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.SUB)
        self.socket.rcvhwm = 0
        self.socket.linger = 0
        self.socket.connect(endpoint)
        self.socket.subscribe(b"")
        self.seqs = {}
        self.received = 0

    def receive(self, wait_ms):
        """Receives one message; returns whether there was one."""
        if not self.socket.poll(wait_ms):
            return False
        topic, payload = self.socket.recv_multipart()
        self.received += 1
        self.take(topic.decode(), payload)
        return True

    def take(self, topic, payload):
        sample = json.loads(payload)
        assert topic == sample["device"] + "/" + sample["channel"]
        self.seqs.setdefault(topic, []).append(sample["seq"])

    def receive_until(self, condition):
        end = time.monotonic() + DEADLINE_S
        while not condition():
            assert time.monotonic() < end, "no further messages"
            self.receive(100)

    def close(self):
        self.socket.close()
        self.context.term()


class PayloadSubscriber(Subscriber):
    """Records the payloads of simulated/counter in order of arrival."""

    def __init__(self, endpoint):
        super().__init__(endpoint)
        self.payloads = []

    def take(self, topic, payload):
        if topic == "simulated/counter":
            self.payloads.append(payload)


def nanoseconds(text):
    """Converts "2026-11-20T23:11:34.123456789Z" to a time since 1970."""
    second = calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))
    return second * 1_000_000_000 + int(text[20:29])


def cbor_time(payload):
    """Returns the text of the member `time` of a sample."""
    return payload.split(b"dtime\x78\x1e")[1][:30]


def run(*arguments):
    return subprocess.run([APP, *arguments], env=ENVIRONMENT, capture_output=True, text=True, timeout=DEADLINE_S)


class TheRunningGateway(unittest.TestCase):
    def start(self, settings=SETTINGS):
        gateway = Gateway(settings)
        self.addCleanup(gateway.close)
        return gateway

    def subscribe(self, endpoint, kind=Subscriber):
        subscriber = kind(endpoint)
        self.addCleanup(subscriber.close)
        return subscriber

    def test_a_subscriber_receives_every_sample_that_the_ledger_counts_as_sent(self):
        gateway = self.start()
        over = [self.subscribe(endpoint) for endpoint in gateway.endpoints]
        self.assertEqual([e.split(":")[0] for e in gateway.endpoints], ["tcp", "ipc"])
        for subscriber in over:
            subscriber.receive_until(
                lambda s=subscriber: "simulated/sine" in s.seqs and "host/load.1m" in s.seqs and s.received > 500)
        gateway.send(signal.SIGTERM)
        asked = time.monotonic()

        def sent():
            return sorted(int(n) for n in re.findall(r"subscriber disconnected .* sent=(\d+) dropped=0", gateway.log()))
        while gateway.process.poll() is None or sum(s.received for s in over) < sum(sent()):
            for subscriber in over:
                subscriber.receive(10)
            self.assertLess(time.monotonic() - asked, DEADLINE_S)
        self.assertEqual(gateway.process.returncode, 0)
        self.assertEqual(sent(), sorted(s.received for s in over))
        for subscriber in over:
            for topic, seqs in subscriber.seqs.items():
                self.assertEqual(seqs, list(range(seqs[0], seqs[0] + len(seqs))), topic)
        for ledger in re.findall(r"ledger device=.*", gateway.log()):
            number = {key: int(n) for key, n in re.findall(r"(\w+)=(\d+)", ledger)}
            self.assertEqual(number["queued"], 0)
            self.assertEqual(number["sampled"], number["published"] + number["filtered"] +
                             number["dropped_queue_overflow"] + number["dropped_shutdown"])
            self.assertIn("balanced=true", ledger)

    def test_status_shows_actual_counts(self):
        gateway = self.start()
        subscriber = self.subscribe(gateway.endpoints[0])
        subscriber.receive_until(lambda: subscriber.received > 200)
        status = gateway.status()
        self.assertEqual(status["state"], "running")
        self.assertTrue(status["ledger"]["balanced"])
        self.assertGreater(status["ledger"]["devices"]["simulated"]["sampled"], 0)
        self.assertEqual(status["transport"]["subscribers"][0]["subscriptions"], [""])
        self.assertGreaterEqual(status["transport"]["subscribers"][0]["sent"], 200)
        self.assertIn("simulated/sine", status["channels"]["last"])

    def test_each_endpoint_publishes_the_same_samples_in_its_own_format(self):
        gateway = self.start(SETTINGS + OTHER_FORMATS)
        self.assertEqual(gateway.status()["transport"]["formats"], ["json", "json", "record", "cbor"])
        as_json, as_record, as_cbor = (self.subscribe(gateway.endpoints[i], PayloadSubscriber) for i in (0, 2, 3))
        for subscriber in (as_json, as_record, as_cbor):
            subscriber.receive_until(lambda s=subscriber: s.payloads)
        # All are subscribed, however late, so what follows reaches each of them.
        last = gateway.status()["channels"]["last"]["simulated/counter"]["seq"] + 200
        as_json.receive_until(lambda: as_json.payloads and json.loads(as_json.payloads[-1])["seq"] >= last)
        as_record.receive_until(lambda: RECORD.unpack(as_record.payloads[-1][-RECORD.size:])[2] >= last)
        newest = json.loads(as_json.payloads[-1])["time"].encode()
        as_cbor.receive_until(lambda: cbor_time(as_cbor.payloads[-1]) >= newest)
        samples = {sample["seq"]: sample for sample in map(json.loads, as_json.payloads)}
        both = 0
        for payload in as_record.payloads:
            for record in RECORD.iter_unpack(payload):
                time_ns, epoch, seq, kind, quality, flags, text_bytes, zero, value = record
                self.assertEqual((kind, quality, text_bytes, zero, value[8:]), (2, 0, 0, 0, bytes(24)))
                self.assertIn(flags, (0, 2))  # 2 if the clock of this machine is not synchronized
                if seq in samples:
                    both += 1
                    self.assertEqual("time_quality" in samples[seq], flags == 2)
                    self.assertEqual(epoch, samples[seq]["epoch"])
                    self.assertEqual(int.from_bytes(value[:8], "little", signed=True), samples[seq]["value"])
                    self.assertEqual(time_ns, nanoseconds(samples[seq]["time"]))
        self.assertGreater(both, 50)
        times = {sample["time"].encode() for sample in samples.values()}
        in_cbor = {cbor_time(payload) for payload in as_cbor.payloads}
        self.assertGreater(len(times & in_cbor), 50)

    def test_a_signal_stops_it_soon_although_a_subscriber_never_reads(self):
        gateway = self.start(SETTINGS.replace("sampling_interval_ms = 10", "sampling_interval_ms = 1"))
        host, port = gateway.endpoints[0].removeprefix("tcp://").split(":")
        with socket.create_connection((host, int(port))) as silent:
            greeting = b"\xff" + bytes(8) + b"\x7f\x03\x01NULL" + bytes(48)
            ready = b"\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03SUB"
            subscribe = b"\x04\x0a\x09SUBSCRIBE"
            silent.sendall(greeting + ready + subscribe)
            gateway.wait_for_line("subscriber connected")
            asked = time.monotonic()
            gateway.send(signal.SIGINT)
            self.assertEqual(gateway.process.wait(DEADLINE_S), 0)
            self.assertLess(time.monotonic() - asked, 20)  # two seconds on an idle machine

    def test_a_second_signal_shortens_the_stop(self):
        """Otherwise, none of the attempts would take less than the two seconds that a silent subscriber has."""
        attempts = 10  # on a busy machine, the second signal may come too late
        times = []
        while len(times) < attempts and min(times, default=2) >= 1.5:
            times.append(self.stop_time_with_two_signals())
        self.assertLess(min(times), 1.5, times)

    def stop_time_with_two_signals(self):
        gateway = self.start()
        host, port = gateway.endpoints[0].removeprefix("tcp://").split(":")
        with socket.create_connection((host, int(port))) as silent:
            silent.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x01NULL" + bytes(48) +
                           b"\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03SUB\x04\x0a\x09SUBSCRIBE")
            gateway.wait_for_line("subscriber connected")
            asked = time.monotonic()
            gateway.send(signal.SIGTERM)
            gateway.wait_for_line("stopping")
            gateway.send(signal.SIGTERM)
            self.assertEqual(gateway.process.wait(DEADLINE_S), 0)
            took = time.monotonic() - asked
            if took < 1.5:
                self.assertIn("second signal", gateway.log())
            return took

    def test_a_hangup_does_not_end_it(self):
        gateway = self.start()
        gateway.send(signal.SIGHUP)
        gateway.wait_for_line("SIGHUP")
        self.assertEqual(gateway.status()["state"], "running")

    def test_a_hangup_applies_changes_of_the_file(self):
        gateway = self.start()
        with open(gateway.config) as file:
            before = file.read()
        with open(gateway.config, "w") as file:
            file.write("queue_size = 4321\nio_threads = 2\n" + before)
        gateway.send(signal.SIGHUP)
        gateway.wait_for_line("key=gateway.queue_size")
        gateway.wait_for_line("outcome=applied")
        gateway.wait_for_line("setting waits for a restart key=gateway.io_threads from=1 to=2")
        status = gateway.status()
        self.assertEqual(status["config"]["last_reload"]["needs_restart"], ["gateway.io_threads"])
        self.assertEqual(status["queue"]["capacity"], 4321)
        self.assertEqual(status["config"]["generation"], 2)

        with open(gateway.config, "w") as file:
            file.write("queue_sise = 1\n" + before)
        request = urllib.request.Request(gateway.rest + "/-/reload", method="POST")
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)
        self.assertEqual(refused.exception.code, 422)
        problem = json.load(refused.exception)
        self.assertIn("queue_sise", problem["errors"][0]["detail"])
        self.assertEqual(gateway.status()["queue"]["capacity"], 4321)
        self.assertEqual(gateway.status()["config"]["last_reload"]["outcome"], "invalid")

    def test_an_address_in_use_is_named_and_the_exit_code_is_69(self):
        gateway = self.start()
        for taken, free in ((gateway.endpoints[0], "127.0.0.1:0"), (None, gateway.rest.removeprefix("http://")),
                            (gateway.endpoints[1], "127.0.0.1:0")):
            with self.subTest(taken=taken, rest=free):
                path = os.path.join(gateway.folder, "second.ini")
                with open(path, "w") as file:
                    file.write(f"[rest]\nlisten = {free}\n")
                    if taken:
                        file.write(f'[publish "a"]\nendpoint = {taken}\n')
                second = run("--config", path)
                self.assertEqual(second.returncode, 69, second.stderr)
                self.assertIn((taken or free), second.stderr)
                self.assertIn("in use", second.stderr)
        self.assertEqual(gateway.status()["state"], "running")


class TheCommandLine(unittest.TestCase):
    def test_every_problem_of_the_settings_is_reported_and_the_exit_code_is_78(self):
        with tempfile.NamedTemporaryFile("w", suffix=".ini") as file:
            file.write("sampling_interval_ms = 0\nqueue_sise = 4\n[publish \"a\"]\nendpoint = tcp://nowhere\n")
            file.flush()
            for arguments in (["--config", file.name], ["--config", file.name, "--check"]):
                answer = run(*arguments)
                self.assertEqual(answer.returncode, 78)
                for place in (f"{file.name}:1: sampling_interval_ms", f"{file.name}:2: queue_sise"):
                    self.assertIn(place, answer.stderr)
                self.assertIn("queue_size", answer.stderr)

    def test_an_invalid_endpoint_is_reported_with_its_line(self):
        with tempfile.NamedTemporaryFile("w", suffix=".ini") as file:
            file.write("[publish \"a\"]\nendpoint = tcp://nowhere\n")
            file.flush()
            answer = run("--config", file.name, "--check")
            self.assertEqual(answer.returncode, 78)
            self.assertRegex(answer.stderr, re.escape(file.name) + r":[12]: .*tcp://nowhere")

    def test_a_log_that_its_disk_cannot_hold_and_a_directory_that_is_not_one_are_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            config = os.path.join(folder, "gateway.ini")
            cases = [(folder + "/log", "bytes_max = 1MiB", ""),
                     (folder + "/none/log", "", f"2: path: cannot create the directory in {folder}/none: No such file or directory"),
                     (config, "", f"2: path: {config} exists but is not a directory")]
            if shutil.disk_usage(folder).total < 2 ** 40:
                cases.append((folder + "/log", "bytes_max = 1024GiB",
                              f"3: bytes_max: {2 ** 40} is more than the disk of {folder}/log can hold: "))
            for path, more, problem in cases:
                with self.subTest(path=path, more=more):
                    with open(config, "w") as file:
                        file.write(f"[log]\npath = {path}\n{more}\n[publish \"a\"]\nendpoint = tcp://127.0.0.1:0\n")
                    answer = run("--config", config, "--check")
                    self.assertIn(f"{config}:{problem}" if problem else "", answer.stderr)
                    self.assertEqual(answer.stderr == "", problem == "")

    def test_a_missing_file_is_exit_code_66_and_an_unknown_option_64(self):
        self.assertEqual(run("--config", "/nonexistent/gateway.ini").returncode, 66)
        self.assertEqual(run("--no-such-flag").returncode, 64)

    def test_the_shipped_settings_are_valid(self):
        shipped = sorted(name for name in os.listdir(os.path.join(SOURCE, "config")) if name.endswith(".ini"))
        self.assertEqual(shipped, ["cloud.ini", "embedded.ini", "gateway.ini", "high_frequency.ini"])
        for name in shipped:
            with self.subTest(name):
                answer = run("--config", os.path.join(SOURCE, "config", name), "--check")
                self.assertEqual((answer.returncode, answer.stderr), (0, ""))

    def test_version_and_help_are_printed(self):
        self.assertRegex(run("--version").stdout, r"^telegate \d+\.\d+\.\d+")
        self.assertIn("--config", run("--help").stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
