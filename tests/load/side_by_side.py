#!/usr/bin/env python3
"""Measures what a disturbance costs: runs gateway_app with the same load alone and with the disturbance, in turn.

Usage: tests/load/side_by_side.py [CASE...] [--seconds N] [--runs N]     default: all cases, 10 s, 3 runs

    hung           ten more devices that hang: Modbus over TCP, to a peer that never responds
    stalled        a subscriber to everything that never reads
    rest           a client that requests /status without a pause
    busy           a busy process on each processor
    processing     scale, range and deadband on each channel
    subscriptions  ten thousand more subscriptions of another peer

Prints the median of each figure, and the median of the ratios of the runs. Fails if a sample is lost, a reading of the
load fails or a sequence number is missing.
"""

import argparse
import contextlib
import http.client
import multiprocessing
import os
import select
import socket
import statistics
import struct
import sys
import threading
import time
from pathlib import Path

import load_test
import raw_zmtp  # found by load_test

RECORD = struct.Struct("<qqQ")  # the first fields: time in UTC, monotonic time, seq (docs/wire.md)
DEVICES, COPIES, INTERVAL_MS = 20, 10, 50
HUNG = 10
SUBSCRIPTIONS = 10_000
HEAD = """queue_size = 4096
[rest]
listen = 127.0.0.1:0
[publish "tcp"]
endpoint = tcp://127.0.0.1:0
format = record
"""
CHANNEL = "scale = 0.5\noffset = 1\nvalid_min = -1000000\nvalid_max = 1000000\ndeadband = 0.001\n"


def load():
    return HEAD + "".join(f'[device "load-{number}"]\ndriver = simulated\nwaveforms = noise\ncopies = {COPIES}\n'
                          f"interval_ms = {INTERVAL_MS}\nseed = {number}\n" for number in range(1, DEVICES + 1))


def hung_devices(port):
    return "".join(f'[device "hung-{number}"]\ndriver = modbus\nendpoint = tcp://127.0.0.1:{port}\ninterval_ms = 100\n'
                   f'timeout_ms = 500\nbreaker_failures = 0\n[channel "hung-{number}/value"]\naddress = 0\n'
                   for number in range(HUNG))


def processing():
    names = ["noise"] + [f"noise_{copy}" for copy in range(2, COPIES + 1)]
    return "".join(f'[channel "load-{number}/{name}"]\n{CHANNEL}' for number in range(1, DEVICES + 1) for name in names)


class Reader(threading.Thread):
    """Reads all samples of the load, checks their sequence numbers and notes their delays."""

    def __init__(self, peer):
        super().__init__(daemon=True)
        self.file = peer.connection.makefile("rb", 65_536)  # a recv() for each part of a frame would take most of the time
        peer.receive_exactly = self.receive_exactly
        self.peer, self.delays_us, self.fault, self.stopping = peer, [], None, False
        self.start()

    def receive_exactly(self, count):
        got = self.file.read(count)
        if len(got) < count:
            raise EOFError("the gateway has closed the connection")
        return got

    def run(self):
        last = {}
        try:
            while not self.stopping:
                topic, payload = self.peer.receive_message()
                if b"$" in topic or not topic.startswith(b"load-"):
                    continue
                sampled_ns, _, seq = RECORD.unpack_from(payload)
                if seq != last.get(topic, seq - 1) + 1:
                    raise AssertionError(f"{topic.decode()}: {seq} came after {last[topic]}")
                last[topic] = seq
                self.delays_us.append((time.time_ns() - sampled_ns) / 1_000)
        except (AssertionError, OSError, EOFError) as fault:
            self.fault = self.fault or (None if self.stopping else fault)


def request_status(address, count):
    connection = http.client.HTTPConnection(address)
    while True:
        connection.request("GET", "/status")
        connection.getresponse().read()
        count.value += 1


def spin():
    while True:
        pass


@contextlib.contextmanager
def processes(function, number, *arguments):
    started = [multiprocessing.Process(target=function, args=arguments, daemon=True) for _ in range(number)]
    for process in started:
        process.start()
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.join()


@contextlib.contextmanager
def disturbance(case, gateway, figures):
    """Disturbs a running gateway; adds figures of the disturbance."""
    endpoint = "tcp://" + ":".join(map(str, gateway.peer.connection.getpeername()))
    if case == "rest":
        requests = multiprocessing.Value("Q", 0)
        with processes(request_status, 1, gateway.rest.removeprefix("http://"), requests):
            begin = time.monotonic()
            yield
            figures["requests/s"] = requests.value / (time.monotonic() - begin)
    elif case == "busy":
        with processes(spin, os.cpu_count()):
            yield
    elif case in ("stalled", "subscriptions"):
        peer = raw_zmtp.connect(endpoint, b"SUB", 1)
        topics = [""] if case == "stalled" else [f"site/{number:08}/channel/{number:010}" for number in range(SUBSCRIPTIONS)]
        begin = time.monotonic()
        peer.send(b"".join(raw_zmtp.command(b"SUBSCRIBE", topic.encode()) for topic in topics))
        while gateway.json("/status")["transport"]["subscriptions"] < len(topics) + 1:
            assert time.monotonic() - begin < load_test.DEADLINE_S, "the subscriptions did not arrive"
        figures["until subscribed, ms"] = (time.monotonic() - begin) * 1_000
        yield
        peer.close()
    else:
        yield


def cpu_ns_of(gateway):
    """Returns the processor time of the threads by name."""
    times = {}
    for folder in Path(f"/proc/{gateway.process.pid}/task").iterdir():
        name = (folder / "comm").read_text().strip()
        times[name] = times.get(name, 0) + int((folder / "schedstat").read_text().split()[0])
    return times


def status_figures(status):
    devices = [each for each in status["sampler"]["devices"] if each["name"].startswith("load-")]
    assert sum(each["reads_failed"] for each in devices) == 0, "a reading of the load failed"
    return {"late p50, us": statistics.median(each["lateness_s"]["p50"] for each in devices) * 1e6,
            "late p99, us": statistics.median(each["lateness_s"]["p99"] for each in devices) * 1e6,
            "ticks missed": sum(each["ticks_missed"] for each in devices)}


def measure(app, case, is_disturbed, seconds):
    silent = socket.create_server(("127.0.0.1", 0), backlog=2 * HUNG)  # the kernel accepts; nobody responds
    more = {"hung": hung_devices(silent.getsockname()[1]), "processing": processing()}.get(case, "") if is_disturbed else ""
    figures = {}
    with silent, load_test.Gateway(app, load() + more) as gateway:
        reader = Reader(gateway.peer)
        with disturbance(case if is_disturbed else "", gateway, figures):
            cpu_before, samples_before = cpu_ns_of(gateway), len(reader.delays_us)
            select.select([], [], [], seconds)  # the measured time
            cpu, delays = cpu_ns_of(gateway), sorted(reader.delays_us[samples_before:])
            status = gateway.json("/status")
            figures["resident, KiB"] = gateway.resident_kib()
        reader.stopping = True
        assert reader.fault is None, reader.fault
        assert delays, "no samples arrived"
        assert status["ledger"]["balanced"] and not any(status["ledger"]["total"]["dropped"].values()), status["ledger"]
        sampled = seconds * DEVICES * COPIES * 1_000 / INTERVAL_MS
        figures |= status_figures(status)
        figures |= {"delay p50, us": delays[len(delays) // 2], "delay p99, us": delays[len(delays) * 99 // 100]}
        figures |= {f"CPU of {name}, ns/sample": (cpu[name] - cpu_before.get(name, 0)) / sampled
                    for name in ("tg-sample", "tg-io")}
        gateway.stop()
    return figures


def compare(app, case, runs, seconds):
    rows = {}  # by figure: the values alone, and disturbed
    for run in range(runs):
        for is_disturbed in (False, True):
            print(f"{case}: run {run + 1} of {runs}, {'disturbed' if is_disturbed else 'alone'}", file=sys.stderr)
            for figure, value in measure(app, case, is_disturbed, seconds).items():
                rows.setdefault(figure, ([], []))[is_disturbed].append(value)
    print(f"\n{case:<28}{'alone':>12}{'disturbed':>12}{'ratio':>8}")
    for figure, (alone, disturbed) in rows.items():
        ratios = [two / one for one, two in zip(alone, disturbed) if one > 0]
        print(f"{figure:<28}" + "".join(f"{statistics.median(values):12.1f}" if values else f"{'':12}"
                                        for values in (alone, disturbed))
              + (f"{statistics.median(ratios):8.2f}" if ratios else ""))
    sys.stdout.flush()


def main():
    cases = ("hung", "stalled", "rest", "busy", "processing", "subscriptions")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="*", help=f"{', '.join(cases)}; default: all")
    parser.add_argument("--seconds", type=float, default=10, help="of each measurement; default: 10")
    parser.add_argument("--runs", type=int, default=3, help="of each case; default: 3")
    parser.add_argument("--app", default=os.environ.get("TELEGATE_GATEWAY_APP", load_test.ROOT / "build/gateway/gateway_app"))
    given = parser.parse_args()
    for case in given.case:
        if case not in cases:
            parser.error(f"unknown case {case!r}: must be one of {', '.join(cases)}")
    if not Path(given.app).is_file():
        parser.error(f"{given.app} does not exist; build it, or use --app")
    for case in given.case or cases:
        compare(given.app, case, given.runs, given.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
