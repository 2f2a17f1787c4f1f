#!/usr/bin/env python3
"""Load tests of gateway_app over time: a soak, a burst with a small queue, and a five-fold burst with cloud.ini.

Usage: tests/load/load_test.py [soak burst cloud] [--seconds N]     default: these three, with a soak of ten minutes
       tests/load/load_test.py sizing [--seconds N]                 the sizing table of docs/performance.md

The soak reads every 16 ms, so that ten minutes have as many readings as an hour at 10 Hz. Its memory is measured with
the library that perf_tool footprint also uses. The baseline is taken after a tenth of the time, but not before the
first heartbeat; at the end, nothing may have grown.
"""

import argparse
import json
import mmap
import os
import re
import select
import signal
import struct
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "interop"))
os.environ.setdefault("TELEGATE_PEER", "")  # that program is not needed here
import raw_zmtp  # noqa: E402
import gateway_process  # noqa: E402
from gateway_process import DEADLINE_S, ENVIRONMENT  # noqa: E402

SKIPPED = 77
SOAK_INTERVAL_MS = 16  # slightly more readings in ten minutes than in an hour at 10 Hz
SETTLED_S = 12  # after the first heartbeat, which is sent after ten seconds

SIZES = ((10, 1), (100, 1), (1_000, 1), (1_000, 10), (10_000, 1), (20_000, 1), (20_000, 5))  # channels, readings per s

ENDPOINTS = """[rest]
listen = 127.0.0.1:0
[publish "tcp"]
endpoint = tcp://127.0.0.1:0
"""
HEAD = "queue_size = 256\n" + ENDPOINTS
SIGNALS = "driver = simulated\nwaveforms = random_walk, noise, counter, square, ramp\n"


def device(name, interval_ms, more=""):
    return f'[device "{name}"]\ndriver = simulated\nwaveforms = counter\ninterval_ms = {interval_ms}\n{more}'


class Counter:
    """Reads the allocations of the program from the file that the counting library writes."""

    def __init__(self, folder):
        self.path = folder / "allocations"
        self.path.write_bytes(bytes(24))

    def read(self):
        """Returns calls, live allocations, live bytes."""
        with open(self.path, "rb") as file, mmap.mmap(file.fileno(), 24, prot=mmap.PROT_READ) as counts:
            return struct.unpack("QQQ", counts)


class Gateway(gateway_process.Gateway):
    def __init__(self, app, settings, library=None, subscribes=True):
        folder = tempfile.TemporaryDirectory(prefix="telegate-test-")
        self.counter = Counter(Path(folder.name))
        counting = {"TELEGATE_ALLOCATIONS": str(self.counter.path), "LD_PRELOAD": library} if library else {}
        super().__init__(settings, folder.name, app, ("--log-level", "info"), env={**ENVIRONMENT, **counting})
        self.scratch = folder
        self.peer = raw_zmtp.connect(self.endpoints[0], b"SUB", 1) if subscribes else None
        if subscribes:
            self.peer.send(raw_zmtp.command(b"SUBSCRIBE"))
        self.received = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.peer:
            self.peer.close()
        self.close()
        self.scratch.cleanup()

    def receive_until(self, name, count, seconds):
        """Receives until `count` samples of a device arrived; each seq must follow the previous one."""
        end = time.monotonic() + seconds + DEADLINE_S
        while self.received.get(name, (0, 0))[0] < count:
            assert time.monotonic() < end, f"{name}: received only {self.received}"
            topic, payload = self.peer.receive_message()
            if b"$" in topic:
                continue  # a notice
            of = topic.decode().split("/")[0]
            seq = json.loads(payload)["seq"]
            number, last = self.received.get(topic, (0, seq - 1))
            assert seq == last + 1, f"{topic}: {seq} came after {last}"
            self.received[topic] = (number + 1, seq)
            self.received[of] = (self.received.get(of, (0, 0))[0] + 1, 0)

    def resident_kib(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1))

    def use(self):
        """Returns the time, the CPU seconds until now, and the bytes of the log."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2].split()
        cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return time.monotonic(), cpu, self.json("/status")["log"]["bytes"]

    def check_ledger(self):
        """Checks that nothing was dropped and nothing is missing."""
        status = self.json("/status")
        total = status["ledger"]["total"]
        assert status["ledger"]["balanced"], status["ledger"]
        assert total["dropped"] == {"queue_overflow": 0, "shutdown": 0}, total
        assert status["transport"]["dropped"] == 0, status["transport"]
        return status

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(DEADLINE_S) == 0
        assert "ledger does not balance" not in self.log()


def soak(app, library, seconds):
    if not library:
        print("soak: skipped: the allocation counter was not built")
        return SKIPPED
    readings = int(seconds * 1_000 / SOAK_INTERVAL_MS)
    with Gateway(app, HEAD + device("soak", SOAK_INTERVAL_MS), library) as gateway:
        settled_s = max(seconds / 10, min(SETTLED_S, seconds / 2))
        gateway.receive_until("soak", int(settled_s * 1_000 / SOAK_INTERVAL_MS), seconds)
        calls, alive, bytes_alive = gateway.counter.read()
        resident = gateway.resident_kib()
        if calls == 0:
            print("soak: skipped: the program has no shared C library, so allocations cannot be counted")
            return SKIPPED
        gateway.receive_until("soak", readings, seconds)
        calls_then, alive_then, bytes_alive_then = gateway.counter.read()
        resident_then = gateway.resident_kib()
        print(f"soak: {readings} readings in {seconds} s, resident {resident} to {resident_then} KiB, live "
              f"{alive} to {alive_then} allocations, {bytes_alive} to {bytes_alive_then} bytes, "
              f"{calls_then - calls} calls after {settled_s:.0f} s")
        assert alive_then <= alive and bytes_alive_then <= bytes_alive, "memory has grown"
        assert calls_then - calls <= readings // 100, "memory is allocated per sample"
        gateway.check_ledger()
        gateway.stop()
    return 0


def burst(app):
    settings = HEAD + device("base", 100) + device("burst", 10, "autostart = no\n")
    with Gateway(app, settings) as gateway:
        gateway.receive_until("base", 10, 1)
        gateway.json("/devices/burst/start", "POST")
        gateway.receive_until("burst", 1_000, 10)
        gateway.json("/devices/burst/stop", "POST")
        gateway.receive_until("base", gateway.received["base"][0] + 10, 1)
        status = gateway.check_ledger()
        print(f"burst: {gateway.received['burst'][0]} samples on {gateway.received['base'][0]}, queue at most "
              f"{status['queue']['high_water']} of {status['queue']['capacity']}, none dropped")
        assert status["queue"]["capacity"] == 256
        gateway.stop()
    return 0


def cloud(app):
    shipped = (ROOT / "config" / "cloud.ini").read_text()
    settings = re.sub(r"(?m)^endpoint = ipc:.*", "endpoint = ipc://*", re.sub(
        r"(?m)^endpoint = tcp:.*", "endpoint = tcp://127.0.0.1:0", re.sub(
            r"(?m)^listen = .*", "listen = 127.0.0.1:0", shipped)))
    # Twenty readings per second of six signals increase by a hundred.
    settings += '\n[device "burst"]\ndriver = simulated\ninterval_ms = 10\nautostart = no\n'
    with Gateway(app, settings) as gateway:
        gateway.receive_until("simulated", 120, 1)
        gateway.json("/devices/burst/start", "POST")
        gateway.receive_until("burst", 3_000, 5)
        gateway.json("/devices/burst/stop", "POST")
        gateway.receive_until("simulated", gateway.received["simulated"][0] + 120, 1)
        status = gateway.check_ledger()
        print(f"cloud: {gateway.received['burst'][0]} samples on {gateway.received['simulated'][0]}, queue at most "
              f"{status['queue']['high_water']} of {status['queue']['capacity']}, none dropped")
        gateway.stop()
    return 0


def sizing(app, seconds):
    """Prints what a gateway with a log and without subscribers needs, for each of SIZES."""
    print("| channels | readings per second | samples/s | CPU, % of a core | memory, MiB | log, GB per day |")
    print("|---:|---:|---:|---:|---:|---:|")
    for channels, rate in SIZES:
        devices = max(1, channels // 500)
        settings = "".join(f'[device "d{each}"]\n{SIGNALS}seed = {each}\ncopies = {channels // devices // 5}\n'
                           f"interval_ms = {1_000 // rate}\n" for each in range(devices))
        with tempfile.TemporaryDirectory(prefix="telegate-test-") as log:
            head = ENDPOINTS + f"[log]\npath = {log}/log\n"
            with Gateway(app, head + settings, subscribes=False) as gateway:
                select.select([], [], [], SETTLED_S)  # the log names new channels first
                begin = gateway.use()
                select.select([], [], [], seconds)  # the time that is measured
                end = gateway.use()
                elapsed, cpu, stored = (after - before for before, after in zip(begin, end))
                resident = gateway.resident_kib() / 1_024
                gateway.check_ledger()
                gateway.stop()
        print(f"| {channels:,} | {rate} | {channels * rate:,} | {cpu / elapsed * 100:.1f} | {resident:.0f} "
              f"| {stored / elapsed * 86_400 / 1e9:.2f} |", flush=True)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", default=["burst", "cloud", "soak"], help="burst, cloud, soak; default: all")
    parser.add_argument("--seconds", type=int, default=600, help="duration of the soak; default: 600")
    parser.add_argument("--app", default=os.environ.get("TELEGATE_GATEWAY_APP", ROOT / "build/gateway/gateway_app"))
    parser.add_argument("--counter", default=os.environ.get("TELEGATE_ALLOCATION_COUNTER",
                                                            ROOT / "build/tools/libtelegate_allocations.so"))
    given = parser.parse_args()
    library = str(given.counter) if given.counter and Path(given.counter).is_file() else None
    tests = {"soak": lambda: soak(given.app, library, given.seconds),
             "burst": lambda: burst(given.app),
             "cloud": lambda: cloud(given.app),
             "sizing": lambda: sizing(given.app, min(given.seconds, 30))}
    for what in given.what:
        if what not in tests:
            parser.error(f"unknown test {what!r}: must be one of {', '.join(tests)}")
    if not Path(given.app).is_file():
        parser.error(f"{given.app} does not exist; build it, or use --app")
    return max(tests[what]() for what in given.what)


if __name__ == "__main__":
    sys.exit(main())
