#!/usr/bin/env python3
"""Measures an uplink whose server is away for hours: disk, memory, and how long it takes to catch up.

Usage: tests/chaos/uplink_outage.py [--hours N] [--rate N] [--fill-rate N] [--format NAME] [--settings LINE;...]

The log receives as many samples as N hours have at the live rate, as fast as the gateway takes them. Then the gateway
samples at the live rate, and a single nats-server starts. gateway_verify compares the stream with the log at the end.
Before all that, samples at the live rate show how many bytes of the log they really take.

Run with the paths of the programs in TELEGATE_GATEWAY_APP and TELEGATE_VERIFY; by default, those of the release build
are used.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUILD = Path(__file__).resolve().parents[2] / "build"
os.environ.setdefault("TELEGATE_GATEWAY_APP", str(BUILD / "gateway/gateway_app"))
os.environ.setdefault("TELEGATE_VERIFY", str(BUILD / "tools/gateway_verify"))

from waiting import ENVIRONMENT, eventually, wait_a_moment
from device_peers import HEAD, Gateway  # noqa: E402
from nats_fixture import NatsServer  # noqa: E402

DEVICES, WAVEFORMS = 10, "sine, ramp, square, random_walk, noise, counter"
CHANNELS = DEVICES * len(WAVEFORMS.split())
SAMPLE_S = 20  # at the live rate, before and after the outage
SETTINGS = """[gateway]
queue_size = 262144
[log]
path = {folder}/log
bytes_max = 0
[uplink "cloud"]
url = %s
format = %s
"""


def resident_mib(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def disk_bytes(folder):
    return sum(each.stat().st_blocks * 512 for each in Path(folder).rglob("*") if each.is_file())


def processor_s(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Outage:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.server = NatsServer(folder)
        self.gateway = Gateway(self.settings(arguments.rate), str(folder), env=ENVIRONMENT)
        self.pid = self.gateway.process.pid
        self.memory = []  # MiB, about each second

    def settings(self, rate):
        devices = "".join(f'[device "d{number}"]\ndriver = simulated\nseed = {number}\nwaveforms = {WAVEFORMS}\n'
                          f"interval_us = {round(1e6 * CHANNELS / rate)}\n" for number in range(DEVICES))
        return SETTINGS % (self.server.url, self.arguments.format) + self.arguments.settings.replace(";", "\n") + "\n" + devices

    def set_rate(self, rate):
        Path(self.gateway.config).write_text(HEAD + self.settings(rate).replace("{folder}", str(self.folder)))
        self.gateway.text("/-/reload", "POST")

    def log(self):
        return self.gateway.status()["log"]

    def uplink(self):
        return self.gateway.json("/uplinks")["uplinks"][0]

    def watch(self, is_over, seconds):
        """Waits, and records the memory."""
        end = time.monotonic() + seconds
        while not is_over():
            assert time.monotonic() < end, f"not within {seconds} s: {self.uplink()} {self.log()}"
            self.memory.append(resident_mib(self.pid))
            wait_a_moment(1)

    def sample_live(self):
        """Returns the bytes in the log per sample at the live rate."""
        self.watch(lambda: self.log()["samples"] > 0, 60)
        end = time.monotonic() + SAMPLE_S
        self.watch(lambda: time.monotonic() > end, SAMPLE_S * 3)
        log = self.log()
        return log["bytes"] / log["samples"]

    def fill(self):
        """Returns samples, seconds and bytes on disk of the backlog."""
        target = round(self.arguments.hours * 3600 * self.arguments.rate)
        before, begin = self.log()["samples"], time.monotonic()
        self.set_rate(self.arguments.fill_rate)
        self.watch(lambda: self.log()["samples"] >= target, 3600)
        self.set_rate(self.arguments.rate)
        log, seconds = self.log(), time.monotonic() - begin
        lost = sum(log["dropped"].values())
        print(f"backlog: {log['samples']:,} samples in {seconds:,.0f} s ({(log['samples'] - before) / seconds:,.0f}/s), "
              f"{lost:,} lost; disk {disk_bytes(self.folder / 'log') / log['samples']:.2f} B per sample", flush=True)
        return log["samples"]

    def catch_up(self):
        """Waits until the uplink is as late as usual."""
        self.server.start()
        self.server.add_stream()
        eventually(lambda: self.uplink()["samples"]["acknowledged"] > 0, "a delivery")
        first, begin, processor = self.uplink(), time.monotonic(), processor_s(self.pid)
        lags = []  # of new samples, with order = live_first

        def is_over():
            uplink = self.uplink()
            lags.extend([uplink["lag_s"]] if uplink["backlog_samples"] > 0 else [])
            return uplink["lag_samples"] < 2 * self.arguments.rate

        self.watch(is_over, 3600)
        seconds = time.monotonic() - begin
        done = self.uplink()["samples"]["acknowledged"] - first["samples"]["acknowledged"]
        print(f"caught up in {seconds:,.0f} s: {done / seconds:,.0f} samples/s, "
              f"{(processor_s(self.pid) - processor) * 1e9 / done:,.0f} ns of the gateway's processor per sample; "
              f"the server has {resident_mib(self.server.process.pid):,.0f} MiB", flush=True)
        if lags:
            print(f"new samples were {max(lags):.1f} s late at most before that", flush=True)

    def live_lag(self):
        """Returns the greatest lag at the live rate in seconds."""
        lags, end = [], time.monotonic() + SAMPLE_S
        while time.monotonic() < end:
            lags.append(self.uplink()["lag_s"])
            wait_a_moment(0.2)
        return max(lags)

    def settle(self):
        self.gateway.text("/stop", "POST")
        eventually(lambda: self.uplink()["lag_samples"] == 0 and self.uplink()["samples"]["in_flight"] == 0 and
                   self.uplink()["position"] == self.log()["next_position"], "everything is delivered")
        assert self.uplink()["samples"]["balanced"]

    def run(self):
        print(f"live: {self.sample_live():.2f} B per sample at {self.arguments.rate:,} samples/s", flush=True)
        samples = self.fill()
        filling, self.memory = self.memory, []
        self.catch_up()
        print(f"lag after that: {self.live_lag():.1f} s at most")
        self.settle()
        for name, memory in (("outage", filling), ("catch-up", self.memory)):
            parts = [memory[len(memory) * i // 4:len(memory) * (i + 1) // 4 + 1] for i in range(4)]
            print(f"memory in the quarters of the {name}: {', '.join(f'{max(part):.1f}' for part in parts)} MiB at most")
        print(f"disk of the stream: {disk_bytes(self.server.store()) / samples:.2f} B per sample", flush=True)
        done = subprocess.run([os.environ["TELEGATE_VERIFY"], self.server.url, "--expect", self.folder / "log"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        print("\n".join(done.stdout.splitlines()[-3:]))
        return done.returncode

    def close(self):
        self.gateway.close()
        self.server.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hours", type=float, default=0.25, help="length of the outage at the live rate")
    parser.add_argument("--rate", type=int, default=10_000, help="live samples per second")
    parser.add_argument("--fill-rate", type=int, default=600_000, help="samples per second of the backlog")
    parser.add_argument("--format", default="json", help="of the messages")
    parser.add_argument("--settings", default="", help="further settings of the uplink, such as 'window = 16'")
    folder = Path(tempfile.mkdtemp(prefix="telegate-test-"))
    outage = Outage(parser.parse_args(), folder)
    try:
        return outage.run()
    finally:
        outage.close()
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
