#!/usr/bin/env python3
"""A day of a gateway with a durable log in an hour: everything that was published is received or named.

Usage: tests/chaos/log_soak.py [--minutes N] [--rate N] [--seed N]     default: an hour

The 24 hours of the day are as long as the time allows. In each of them, the seed decides whether the gateway is
stopped, killed or reloaded, or whether its disk becomes full (a tmpfs, if they can be mounted here) or the log reaches
its limit. Subscribers are away most of the time and read what they missed from the log when they return: one client of
/stream, and one gateway_tail. Another client of /stream is there most of the time.

At the end, for each epoch and channel, the samples that a client received and those that the services name as lost
must cover every sequence number exactly once, and the log must name the same losses. gateway_log verify checks the log.

Run by ctest with the paths of the programs in TELEGATE_GATEWAY_APP, TELEGATE_TAIL and TELEGATE_GATEWAY_LOG; by default,
those of the release build are used. Exits with 77 if this Python has no pyzmq.
"""

import argparse
import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import lossless
from client_faults import range_faults
from stream_client import Ranges, StreamClient
from waiting import DEADLINE_S, ENVIRONMENT, eventually, wait_a_moment

try:
    import zmq
except ImportError:
    print("skipped: this Python has no pyzmq (Debian package python3-zmq)")
    sys.exit(77)

LOG = os.environ.get("TELEGATE_GATEWAY_LOG", lossless.BUILD / "tools/gateway_log")
HOURS = 24
# One for each hour of a day, in random order. The other hours are quiet.
EVENTS = ["kill"] * 4 + ["restart"] * 4 + ["reload"] * 5 + ["full"] * 3 + ["limit"] * 2
MOUNT_BYTES = 1024 * 1024 * 1024
PAGE_BYTES = 4096
FREE_BYTES_MIN = 1 << 40  # the maximum of the setting
POLICIES = ("drop_oldest", "drop_newest", "block")
HOLES_MAX = 1_000
TROUBLE_S_MAX = 5


class Gateway(lossless.Gateway):
    HISTORY = "256KiB"

    def __init__(self, folder, rate, scenario):
        self.has_devices = False
        self.log_settings = {}
        super().__init__(folder, rate, scenario)

    def settings(self, changed):
        text = super().settings(changed)
        devices = text.index("[device ")
        log = {"path": self.folder / "durable", "sync_interval": "200ms", "free_bytes_min": 0, "bytes_max": 0,
               **self.log_settings}
        return (text[:devices] + "[log]\n" + "".join(f"{key} = {value}\n" for key, value in log.items()) +
                (text[devices:] if self.has_devices else ""))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def log_status(self):
        return self.get("/status")["log"]

    def is_written(self):
        log = self.log_status()
        return log["error"] is None and not log["full"] and log["synced_position"] == log["next_position"]


class Disk:
    """The file system of the log. Without permission to mount one, it never becomes full."""

    def __init__(self, path):
        self.path = path
        path.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={MOUNT_BYTES}", "tmpfs", path], capture_output=True,
                              check=False)
        self.is_mounted = done.returncode == 0

    def resize(self, size):
        return subprocess.run(["mount", "-o", f"remount,size={size}", self.path], capture_output=True,
                              check=False).returncode == 0

    def fill(self):
        """Makes the file system as small as what is in it, which takes no memory. The log may grow meanwhile."""
        eventually(lambda: self.resize((shutil.disk_usage(self.path).used // PAGE_BYTES + 1) * PAGE_BYTES), "a full disk")

    def close(self):
        if self.is_mounted:
            subprocess.run(["umount", "--lazy", self.path], check=True)


class Services:
    """Requests to the services of the gateway."""

    def __init__(self, port):
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.linger = 0
        self.socket.connect(f"tcp://127.0.0.1:{port}")

    def ask(self, request):
        self.socket.send(json.dumps(request).encode())
        if not self.socket.poll(DEADLINE_S * 1000):
            raise AssertionError(f"no reply to {request}")
        return json.loads(self.socket.recv_multipart()[-1])

    def losses(self, epoch, holes):
        """Returns the samples of the holes, as pairs of a topic and a number, and what is gone."""
        samples, gone = [], []
        while holes:
            answer = self.ask({"service": "replay", "limit": 2_000, "epoch": epoch, "holes": holes[:HOLES_MAX]})
            if "error" in answer:
                if answer["error"]["code"] != "busy":
                    raise AssertionError(f"epoch {epoch}: {answer['error']}")
                wait_a_moment(0.05)
                continue
            samples += [(f"{each['device']}/{each['channel']}", each["seq"]) for each in answer["samples"]]
            gone += [(each["topic"], each["first_seq"], each["last_seq"], each["reason"]) for each in answer["gone"]]
            holes = answer["left"] + holes[HOLES_MAX:]
        return samples, gone

    def close(self):
        self.socket.close()


class Scenario:
    """How samples are published; gateway_tail reads them. Gateway.kill() kills, stop() never does."""

    is_killed, policy, io_threads = False, "drop_oldest", 1

    def settings(self):
        return "format = record\n"


class Day:
    def __init__(self, arguments, folder):
        self.folder = folder
        self.random = random.Random(arguments.seed)
        self.hour_s = arguments.minutes * 60 / HOURS
        self.faults = []
        self.done = collections.Counter()
        self.peaks = collections.Counter()
        self.disk = Disk(folder / "durable")
        self.gateway = self.tail = None
        self.clients = []
        try:
            self.gateway = Gateway(folder, arguments.rate, Scenario())
        except BaseException:
            self.disk.close()
            raise

    def close(self):
        for client in self.clients:
            client.leave()
        if self.tail:
            self.tail.close()
        self.gateway.close()
        self.disk.close()

    def tell(self, fault):
        self.faults.append(fault)

    def begin(self):
        """The clients are there before the first sample."""
        self.away, self.near = (StreamClient(name, self.gateway.rest) for name in ("the client that is away",
                                                                                  "the client that is there"))
        self.clients = [self.away, self.near]
        for client in self.clients:
            client.come()
        self.tail = lossless.Client(0, self.folder, self.gateway)
        eventually(lambda: all(client.is_connected for client in self.clients) and
                   self.gateway.get("/subscribers")["subscribers"], "the clients are connected")
        self.gateway.has_devices = True
        self.gateway.reload({})
        eventually(lambda: all(client.samples for client in self.clients), "the first samples")

    def run(self):
        self.begin()
        events = EVENTS + ["nothing"] * (HOURS - len(EVENTS))
        self.random.shuffle(events)
        for event in events:
            self.move_clients()
            getattr(self, event)()
            self.done[event] += 1
            self.look()
        return self.check()

    def wait(self, hours):
        end = time.monotonic() + hours * self.hour_s
        while time.monotonic() < end:
            if self.gateway.process.poll() is not None:
                raise AssertionError(f"the gateway exited with {self.gateway.process.returncode}")
            wait_a_moment(0.05)

    def move_clients(self):
        """A client returns with this probability for this hour."""
        for client, chance in ((self.away, 0.2), (self.near, 0.8)):
            client.come() if self.random.random() < chance else client.leave()
        for proxy in (self.tail.samples, self.tail.services):
            proxy.is_shut = False
        if self.random.random() < 0.7:
            self.tail.samples.shut()
            self.tail.services.shut()

    def look(self):
        status = self.gateway.get("/status")
        if not status["ledger"]["balanced"]:
            self.tell(f"the ledger does not balance: {status['ledger']['total']}")
        self.peaks["KiB of memory"] = max(self.peaks["KiB of memory"], self.resident_kib())
        self.peaks["segments"] = max(self.peaks["segments"], status["log"]["segments"])

    def resident_kib(self):
        text = Path(f"/proc/{self.gateway.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmRSS"))

    def nothing(self):
        self.wait(1)

    def restart(self):
        self.wait(self.random.random())
        self.gateway.stop()
        self.gateway.start()

    def kill(self):
        self.wait(self.random.random())
        self.gateway.kill()
        self.gateway.start()

    def reload(self):
        self.gateway.log_settings = {"sync_interval": self.random.choice(["0ms", "50ms", "200ms", "1s"])}
        self.gateway.reload({"queue_size": self.random.choice([1024, 65536]), "extra": self.random.choice([[], ["extra"]])})
        self.wait(1)

    def reload_log(self, **settings):
        self.gateway.log_settings = settings
        self.gateway.reload({})

    def wait_for_trouble(self):
        """Waits until the log is full, cannot be written, or has removed a segment. At low rates, it is written once per
        second, and a short hour would be over before."""
        removed = self.gateway.log_status()["segments_removed"]

        def is_troubled():
            log = self.gateway.log_status()
            return log["full"] or log["error"] or log["segments_removed"] > removed
        try:
            eventually(is_troubled, "", TROUBLE_S_MAX)
            self.done["troubles of the log"] += 1
        except AssertionError:  # a disk that is full with no more than one segment, or one that has space for a page
            pass

    def full(self):
        """The disk is full for half an hour; in every other case, the gateway is stopped or killed meanwhile."""
        if not self.disk.is_mounted:
            return self.limit()
        self.reload_log(when_full=self.random.choice(POLICIES))
        self.disk.fill()
        self.wait_for_trouble()
        self.wait(0.3)
        how = self.random.choice([self.gateway.kill, self.gateway.stop, None, None])
        if how:
            how()
            self.gateway.start()
        self.wait(0.2)
        assert self.disk.resize(MOUNT_BYTES)
        self.wait(0.5)

    def limit(self):
        """At this limit, drop_oldest would remove all of the log."""
        self.reload_log(when_full=self.random.choice(POLICIES[1:]), free_bytes_min=FREE_BYTES_MIN)
        self.wait_for_trouble()
        self.wait(0.5)
        self.reload_log()
        self.wait(0.5)

    def settle(self):
        """Stops the devices and waits until the log and the clients have everything."""
        for proxy in (self.tail.samples, self.tail.services):
            proxy.is_shut = False
        for client in self.clients:
            client.come()
        self.gateway.log_settings = {}
        self.gateway.reload({"extra": ["extra"]})
        eventually(lambda: "extra" in [each["name"] for each in self.gateway.get("/devices")["devices"]], "the reload")
        self.gateway.wait_until_still()
        eventually(self.gateway.is_written, lambda: f"the log is written: {self.gateway.log_status()}")
        status = self.gateway.get("/status")
        end = f"{status['epoch']}-{status['ledger']['total']['published'] - 1}".encode()
        for client in self.clients:
            while client.last_id != end:  # as long as it takes on a busy machine
                before = client.last_id
                eventually(lambda: client.last_id != before, lambda: f"{client.name} continues after {before} to {end}")

    def check(self):
        """Returns the text of gateway_log verify."""
        self.settle()
        tail = self.tail.end()
        for client in self.clients:
            client.leave()
        self.gateway.has_devices = False
        self.gateway.write({})
        self.gateway.stop()
        self.gateway.start()
        report = json.loads(self.verify("--json"))
        if not report["complete"]:
            self.tell("gateway_log verify: the log is not complete")
        epochs = {each["epoch_ms"]: each for each in report["epochs"]}
        services = Services(self.gateway.services)
        for client in self.clients:
            self.faults += client.faults
            self.check_client(client, epochs, services)
        services.close()
        self.check_tail(tail, epochs)
        self.check_state_file(epochs)
        return self.verify()

    def verify(self, *options):
        done = subprocess.run([LOG, "verify", self.folder / "durable", *options], capture_output=True, text=True, check=False,
                              env=ENVIRONMENT)
        if done.returncode not in (0, 1):
            raise AssertionError(f"gateway_log verify exited with {done.returncode}: {done.stderr}")
        return done.stdout

    def check_client(self, client, epochs, services):
        """Received samples and ranges reported as gone must cover every number exactly once."""
        recovered = 0
        for epoch, found in epochs.items():
            logged = {each["topic"]: each for each in found["channels"]}
            received = {topic: ranges for (of, topic), ranges in client.received.items() if of == epoch}
            ends = {topic: max(logged[topic]["last_seq"] if topic in logged else 0,
                               received[topic].last() if topic in received else 0) for topic in {*logged, *received}}
            holes = [{"topic": topic, "first_seq": first, "last_seq": last} for topic, end in sorted(ends.items())
                     for first, last in received.get(topic, Ranges()).holes(end)]
            samples, gone = services.losses(epoch, holes)
            recovered += len(samples)
            self.check_epoch(client, found, received, (samples, gone, ends))
        if recovered > client.missed:
            self.tell(f"{client.name}: {recovered} samples of the log were not sent, {client.missed} are reported as missed")
        unknown = {epoch for epoch, _ in client.received} - set(epochs)
        print(f"{client.name}: {client.visits} visits, {client.samples:,} samples received, {client.missed:,} reported as "
              f"missed, {recovered:,} of them found later; epochs that the log no longer has: {len(unknown)}", flush=True)

    def check_epoch(self, client, found, received, rest):
        samples, gone, ends = rest
        parts = {topic: {"received": list(received[topic].all) if topic in received else [], "lost": []} for topic in ends}
        for topic, seq in samples:
            parts[topic]["received"].append([seq, seq])
        logged = {each["topic"]: each for each in found["channels"]}
        for topic, first, last, reason in gone:
            parts[topic]["lost"].append({"first_seq": first, "last_seq": last})
            named = logged[topic]["missing"] if topic in logged else []
            end = min(last, logged[topic]["last_seq"] if topic in logged else 0)
            if not covers(named, first, end):
                self.tell(f"{client.name}: {found['epoch_ms']} {topic}: {first}..{last} is gone ({reason}), but not in the log")
        for topic, end in ends.items():
            for fault in range_faults(parts[topic], end):
                self.tell(f"{client.name}: {found['epoch_ms']} {topic}: {fault}")
            if found["stopped"] and (topic not in logged or end != logged[topic]["last_seq"]):
                self.tell(f"{client.name}: {found['epoch_ms']} {topic}: received up to {end}, which is not in the log")

    def check_tail(self, report, epochs):
        """Checks the epochs that gateway_tail was there for; it does not know of others."""
        topics = 0
        for each in report["epochs"]:
            found = epochs.get(each["epoch"], {"stopped": False, "channels": []})
            ends = {channel["topic"]: channel["last_seq"] for channel in found["channels"]}
            topics += len(each["topics"])
            for topic in each["topics"]:
                end = ends.get(topic["topic"], 0) if each["end_known"] and found["stopped"] else None
                for fault in range_faults(topic, end):
                    self.tell(f"gateway_tail: {each['epoch']} {topic['topic']}: {fault}")
        if report["duplicates"]:
            self.tell(f"gateway_tail: {report['duplicates']} duplicates")
        print(f"gateway_tail: {report['samples']:,} samples in {len(report['epochs'])} of {len(epochs) - 1} epochs, "
              f"{report['recovered']:,} of them by replay, {report['lost']:,} lost {report['lost_by_reason']}; {topics} of "
              f"{sum(len(epochs[each['epoch']]['channels']) for each in report['epochs'] if each['epoch'] in epochs)} topics",
              flush=True)

    def check_state_file(self, epochs):
        """The log must have, or name, everything that the gateway had counted when it stopped cleanly."""
        for each in json.loads((self.folder / "state.json").read_text())["epochs"]:
            found = epochs.get(each["epoch"])
            ends = {channel["topic"]: channel["last_seq"] for channel in found["channels"]} if found else {}
            for topic, last in each["channels"].items():
                if found and found["stopped"] and ends.get(topic, 0) != last:
                    self.tell(f"{each['epoch']} {topic}: the log ends at {ends.get(topic, 0)}, the state file at {last}")


def covers(ranges, first, last):
    """Returns whether the ranges, which are in order, have all numbers from first to last."""
    for each in ranges:
        if each["first_seq"] <= first <= each["last_seq"]:
            first = each["last_seq"] + 1
    return first > last


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=int, default=5_000, help="samples per second")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2 ** 32))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="telegate-test-"))
    day = Day(arguments, folder)
    is_good = False
    try:
        text = day.run()
        print(f"{dict(day.done)}, {'with' if day.disk.is_mounted else 'without'} a full disk; at most {dict(day.peaks)}")
        print("\n".join(line for line in text.splitlines() if line.startswith(("epoch ", "missing samples"))))
        is_good = not day.faults
        for fault in day.faults[:50]:
            print(fault)
        print(text.splitlines()[-1])
    finally:
        if not is_good:
            kept = shutil.copytree(folder, str(folder) + "-kept", dirs_exist_ok=True)
            print(f"the log and other files are in {kept}")
        day.close()
        shutil.rmtree(folder)
    print("every sample was received or named" if is_good else f"{len(day.faults)} faults")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
