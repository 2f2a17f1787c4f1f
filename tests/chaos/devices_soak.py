#!/usr/bin/env python3
"""Soak test with devices of all kinds, three of which fail at random, and a wall clock that is stepped.

Usage: tests/chaos/devices_soak.py [--seconds N] [--seed S]     default: ten minutes

The gateway reads fifteen simulated devices (device_sources.py). The seed determines which three fail, how and when;
when and how far the wall clock steps (clock_shim.cpp); and when a reload removes and adds devices. During the run and
at its end, the test checks that the ledger balances; that a subscriber receives each sample once or is notified of its
loss; that healthy devices stay healthy and on time; that aligned devices are read at multiples of the wall clock again
after each step; that steps are reported; that no threads or descriptors leak; and that a stop with hung devices is
quick.

Run by ctest with paths in TELEGATE_GATEWAY_APP and TELEGATE_CLOCK_SHIM_LIBRARY; without the latter, the clock is not
stepped. With TELEGATE_CHECK_TIMES=0, as used with sanitizers, times are not checked.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
import urllib.error
from collections import Counter
from functools import reduce
from operator import and_, or_
from pathlib import Path

import device_sources
from sample_watch import NS, Alignment, SampleWatch, time_faults
from stepped_gateway import Gateway, Pace, WallClock, processes_of
from waiting import eventually, wait_a_moment

BUILD = Path(__file__).resolve().parents[2] / "build"
CHECK_TIMES = os.environ.get("TELEGATE_CHECK_TIMES", "1") != "0"
FAULTY = 3
STOP_S_MAX, LATE_STOP_S_MAX = 3, 30
LATENESS_S_MAX = 0.020
READS_MIN = 200  # for a meaningful percentile
MISSED_SHARE_MAX = 0.01
PACE_S_MAX = 0.005  # on a machine that wakes threads later than this, nothing is on time
P99_OF_MEAN = 10  # of the times that a thread waits for a processor, roughly
SILENCE_S_MAX = 2
STEP_PAUSE_S = (2.5, 6)
STEPS_S = (0.05, 0.33, 1.07, 3.71, 61.3, 3_600.01, 40_000.123)
AWAY_S_MAX = 86_400  # maximum offset of the clock
HEAD = """queue_size = 16384
heartbeat_ms = 1000
[rest]
listen = 127.0.0.1:0
[publish "tcp"]
endpoint = tcp://127.0.0.1:0
"""


def ledger_fault(ledger):
    dropped = sum(ledger["dropped"].values())
    if ledger["sampled"] != ledger["published"] + ledger["filtered"] + ledger["queued"] + dropped:
        return f"the ledger does not balance: {ledger}"
    return None


class Disturber:
    """Schedules the faults of the three faulty devices, clock steps and reloads."""

    def __init__(self, soak):
        self.soak = soak
        self.random = soak.random
        now = time.monotonic()
        self.due = {source.name: now + self.random.uniform(0.5, 3) for source in soak.faulty}
        self.step_at = now + self.random.uniform(*STEP_PAUSE_S)
        self.reload_at = now + self.random.uniform(0.15, 0.3) * min(soak.seconds, 60)
        self.faults = self.reloads = 0

    def turn(self):
        now = time.monotonic()
        for source in self.soak.faulty:
            if now > self.due[source.name]:
                self.change(source)
        if self.soak.clock.library and now > self.step_at:
            self.step()
        if now > self.reload_at:
            self.reload()

    def change(self, source):
        if source.mode == "good":
            source.fault(self.random.choice(source.faults))
            self.faults += 1
        else:
            source.heal()
        self.due[source.name] = time.monotonic() + self.random.uniform(1, 5)

    def step(self):
        seconds = self.random.choice(STEPS_S) * self.random.choice([1, -1])
        if abs(self.soak.clock.ahead.value / NS + seconds) > AWAY_S_MAX:
            seconds = -seconds
        self.soak.clock.step(seconds)
        self.soak.step_seen_by = time.monotonic() + 2.5
        self.step_at = time.monotonic() + self.random.uniform(*STEP_PAUSE_S)

    def reload(self):
        """Removes and adds devices, including a faulty one, whatever its fault is at that time."""
        gone = self.random.sample([each for each in self.soak.sources if self.soak.may_go(each)], 2)
        gone.append(self.random.choice(self.soak.faulty))
        self.soak.reload(gone)
        wait_a_moment(self.random.uniform(0.1, 1.5))
        self.soak.reload([])
        for source in gone:
            self.soak.watch.forget(source.name)
            self.soak.gateway.command(source.name, "start")
        self.reloads += 1
        self.reload_at = time.monotonic() + self.random.uniform(10, 30)


class Soak:
    def __init__(self, arguments, folder):
        self.folder = folder
        self.app = arguments.app
        self.seconds = arguments.seconds
        self.random = random.Random(arguments.seed)
        self.faults = []
        self.looks = 0
        self.peak = {"threads": 0, "descriptors": 0}
        self.step_seen_by = 0
        self.failed = {}  # failed readings of healthy devices, by name
        self.excused = 0
        self.stalls = device_sources.Stalls()
        self.clock = WallClock(folder, arguments.shim)
        self.pace = Pace()
        self.pace_s = 0
        self.gateway = self.watch = None
        self.sources = []

    def tell(self, fault):
        if fault and len(self.faults) < 100:
            self.faults.append(fault)

    def begin(self):
        self.sources = device_sources.all_sources(self.folder, self.counting_log())
        self.faulty = self.random.sample([each for each in self.sources if each.faults], FAULTY)
        self.healthy = [each for each in self.sources if each not in self.faulty]
        self.gateway = Gateway(self.app, self.folder, self.settings(), self.clock.environment())
        self.watch = SampleWatch(self.gateway.publish, {each.name for each in self.healthy},
                                 [each.name for each in self.healthy if each.wall_offset_ms is not None])
        eventually(lambda: self.gateway.ask("/subscribers")["subscribers"], "the subscriber is connected")
        for source in self.sources:
            self.gateway.command(source.name, "start")
        self.all_measure()
        for source in self.sources:
            source.sending = True

    def counting_log(self):
        """Logs two seconds of a counting device, for the device that replays them."""
        path = self.folder / "counting_log"
        gateway = Gateway(self.app, self.folder, HEAD + f'[log]\npath = {path}\n[device "sim"]\ndriver = simulated\n'
                                                        "waveforms = counter\ninterval_ms = 50\n", {})
        try:
            eventually(lambda: gateway.ask("/status")["log"]["samples"] > 30, "a log")
            self.tell(None if gateway.stop()[0] == 0 else "the gateway that logs did not stop cleanly")
        finally:
            gateway.close()
        return path

    def may_go(self, source):
        """Excludes devices whose totals restart or whose deadlines are checked from the first to the last."""
        return source in self.healthy and not isinstance(source, device_sources.Datagrams) and source.wall_offset_ms is None

    def settings(self, gone=()):
        return HEAD + "".join(each.settings() for each in self.sources if each not in gone)

    def reload(self, gone):
        for source in gone:
            self.watch.forget(source.name)
        self.gateway.config.write_text(self.settings(gone))
        try:
            answer = self.gateway.ask("/-/reload", "POST")
            if answer["outcome"] != "applied" or answer["errors"]:
                self.tell(f"a reload: {answer}")
        except urllib.error.HTTPError as error:
            self.tell(f"a reload: {error.read().decode()}")

    def states(self):
        return {each["name"]: each for each in self.gateway.ask("/status")["sampler"]["devices"]}

    def all_measure(self):
        def do_they():
            states = self.states()
            return len(states) == len(self.sources) and all(
                each["state"] == "measuring" and each["reads"] > each["reads_failed"] and each["consecutive_failures"] == 0
                for each in states.values())

        eventually(do_they, lambda: f"all devices measure: {[(n, s['state'], s['last_error']) for n, s in self.states().items()]}")

    def look(self):
        status = self.gateway.ask("/status")
        self.looks += 1
        if not status["ledger"]["balanced"] or not status["transport"]["balanced"]:
            self.tell(f"not balanced: {status['ledger']} {status['transport']}")
        for ledger in (status["ledger"]["total"], *status["ledger"]["devices"].values()):
            self.tell(ledger_fault(ledger))
        for device in status["sampler"]["devices"]:
            if device["name"] in self.watch.healthy:
                self.look_at(device)
        if self.clock.library and time.monotonic() > self.step_seen_by:
            self.look_at_clock(status["clock"])
        for what, count in (("threads", len(self.gateway.threads())), ("descriptors", len(self.gateway.descriptors()))):
            self.peak[what] = max(self.peak[what], count)

    def look_at(self, device):
        failed = device["reads_failed"] + (device["state"] == "error")
        if failed > self.failed.get(device["name"], 0):
            self.failed[device["name"]] = failed
            if self.stalls.excuses(time.monotonic()):
                self.excused += 1
                return
            self.tell(f"{device['name']} is in state {device['state']} although it is healthy: "
                      f"{device['reads_failed']} of {device['reads']} readings failed, {device['last_error']}")

    def look_at_clock(self, clock):
        reported = clock["last_step"] and clock["last_step"]["seconds"]
        if clock["steps"] != self.clock.count:
            self.tell(f"{self.clock.count} steps were made, {clock['steps']} are reported, the last one of {reported} s")
            self.clock.count = clock["steps"]
        elif reported is not None and abs(reported - self.clock.last_s) > 0.002:
            self.tell(f"a step of {self.clock.last_s} s is reported as {reported} s")

    def run(self):
        self.begin()
        before = self.settled()
        disturber = Disturber(self)
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            disturber.turn()
            self.look()
            wait_a_moment(0.1)
        for source in self.faulty:
            source.heal()
        after = self.settled()
        self.compare(before, after)
        states = self.states()
        self.pace_s = max(self.pace.end(), P99_OF_MEAN * self.gateway.processor_wait_s())
        self.check_lateness(states)
        self.check_failures(states, disturber)
        self.complete()
        stop_s = self.stop()
        self.figures(disturber, states, before, after, stop_s)

    def settled(self):
        """Returns the threads and the descriptors of several reads while all devices are healthy, and KiB."""
        self.all_measure()
        threads, descriptors = [], []
        for _ in range(40):
            threads.append(Counter(self.gateway.threads()))
            descriptors.append(Counter(self.gateway.descriptors()))
            wait_a_moment(0.05)
        return threads, descriptors, self.gateway.resident_kib()

    def compare(self, before, after):
        """Reports what is always there now and was never there before: commands start and end, and replays reopen
        their file."""
        for what, then, now in (("threads", before[0], after[0]), ("descriptors", before[1], after[1])):
            if new := reduce(and_, now) - reduce(or_, then):
                self.tell(f"new {what}: {dict(new)}")

    def keeps_times(self):
        """Returns whether missed deadlines and unaligned readings can be caused by the gateway."""
        return CHECK_TIMES and self.pace_s <= PACE_S_MAX

    def late_max_s(self):
        return max(LATENESS_S_MAX, 2 * self.pace_s)

    def check_lateness(self, states):
        """On a machine that is late itself, readings may be as late, and a few may be later."""
        late_max = self.late_max_s()
        for source in self.healthy if CHECK_TIMES else ():
            device = states[source.name]
            late = device["lateness_s"]
            if late["p99" if self.keeps_times() and device["reads"] >= READS_MIN else "p50"] > late_max:
                self.tell(f"{source.name}: {device['reads']} readings late by {late}, the machine by {self.pace_s:.4f} s")
            stalled_ticks = self.stalled_s() * 1_000 / source.interval_ms
            if self.keeps_times() and device["ticks_missed"] > MISSED_SHARE_MAX * device["reads"] + 2 + stalled_ticks:
                self.tell(f"{source.name}: {device['ticks_missed']} deadlines missed of {device['reads']}")
            silence_s = self.watch.silence_ns[source.name] / NS
            if silence_s > SILENCE_S_MAX + self.longest_stall_s() + source.interval_ms / 1_000:
                self.tell(f"{source.name}: silent for {silence_s:.1f} s")

    def stalled_s(self):
        return sum(until - begin for begin, until in self.stalls.found)

    def longest_stall_s(self):
        return max((until - begin for begin, until in self.stalls.found), default=0)

    def check_failures(self, states, disturber):
        if disturber.faults >= FAULTY and not any(states[each.name]["reads_failed"] for each in self.faulty):
            self.tell("no device has failed")

    def complete(self):
        """Waits until no new samples arrive; the received samples must then be complete."""
        for source in self.sources:
            source.sending = False
        for source in self.sources:
            if isinstance(source, device_sources.Datagrams):
                topic = f"{source.name}/" + {"statsd": "hits", "influx": "soak.a.n"}[source.kind]
                sent_is_here = lambda: self.watch.channels[topic].value == source.sent  # noqa: E731
                try:
                    eventually(sent_is_here, "")
                except AssertionError:
                    self.tell(f"{topic}: {source.sent} sent, {self.watch.channels[topic].value} received")
        for source in self.sources:
            self.gateway.command(source.name, "stop")

        def here():
            return {topic: channel.last_seq for topic, channel in list(self.watch.channels.items())}

        def all_there_were():
            return {each["topic"]: each["ledger"]["sampled"] - each["ledger"].get("filtered", 0)
                    for each in self.gateway.ask("/channels")["channels"]}

        try:
            eventually(lambda: here() == all_there_were(), "")
        except AssertionError:
            ours, theirs = here(), all_there_were()
            odd = {topic: (ours.get(topic), theirs.get(topic)) for topic in {*ours, *theirs}}
            self.tell(f"received up to, and expected: {({topic: both for topic, both in odd.items() if both[0] != both[1]})}")
        self.faults += self.watch.faults
        self.faults += [what for mono, what in self.watch.bad if not self.stalls.excuses(mono / NS)]
        if self.clock.library:
            self.faults += time_faults(self.watch, self.clock.steps)
            for source in self.healthy:
                if source.name in self.watch.points and self.keeps_times():
                    self.faults += Alignment(
                        self.watch.points[source.name], (source.interval_ms * 1_000_000, source.wall_offset_ms * 1_000_000),
                        self.late_max_s() * NS, self.clock.steps).faults(source.name)

    def stop(self):
        """Stops the gateway while all devices that can hang do so."""
        for source in self.sources:
            self.gateway.command(source.name, "start")
        self.all_measure()
        for source in self.sources:
            hangs = [kind for kind in source.faults if kind in ("hang", "silent", "hangs")]
            if hangs:
                source.fault(hangs[0])
        wait_a_moment(1)
        self.watch.ended = True
        code, seconds = self.gateway.stop()
        if code != 0 or seconds > (STOP_S_MAX if self.keeps_times() else LATE_STOP_S_MAX):
            self.tell(f"the stop took {seconds:.1f} s, exit code {code}")
        if "do not balance" in self.gateway.log.read_text():
            self.tell("the last line of the ledger: " + self.gateway.log.read_text()[-500:])
        left = processes_of(self.folder)
        self.tell(f"leftover processes: {left}" if left else None)
        return seconds

    def figures(self, disturber, states, before, after, stop_s):
        def fewest(reads):
            return min(each.total() for each in reads)
        late = max(states[each.name]["lateness_s"]["p99"] for each in self.healthy
                   if states[each.name]["reads"] >= READS_MIN)
        missed = sum(states[each.name]["ticks_missed"] for each in self.healthy)
        print(f"{self.watch.samples:,} samples of {len(self.watch.channels)} channels of {len(self.sources)} devices, "
              f"{self.watch.gapped} reported as lost, {self.looks} checks; {disturber.faults} faults of "
              f"{', '.join(each.name for each in self.faulty)}, {disturber.reloads} reloads, "
              f"{len(self.clock.steps.at) - 1} clock steps; lateness p99 at most {1_000 * late:.2f} ms (of the "
              f"machine: {1_000 * self.pace_s:.2f} ms), {missed} deadlines missed"
              f"{'' if self.keeps_times() else ', not checked'}, {len(self.stalls.found)} stalls of the "
              f"sources up to {self.longest_stall_s():.1f} s excuse {self.excused} failures; threads {fewest(before[0])} to "
              f"{fewest(after[0])} (at most {self.peak['threads']}), descriptors {fewest(before[1])} to {fewest(after[1])} "
              f"({self.peak['descriptors']}), resident {before[2]} to {after[2]} KiB; stopped in {stop_s:.2f} s", flush=True)

    def close(self):
        self.pace.close()
        self.stalls.close()
        if self.watch:
            self.watch.close()
        if self.gateway:
            self.gateway.close()
        for source in self.sources:
            source.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2 ** 32))
    parser.add_argument("--app", default=os.environ.get("TELEGATE_GATEWAY_APP", BUILD / "gateway/gateway_app"))
    parser.add_argument("--shim", default=os.environ.get("TELEGATE_CLOCK_SHIM_LIBRARY",
                                                         BUILD / "tests/libtelegate_clock_shim.so"))
    arguments = parser.parse_args()
    if not arguments.shim or not Path(arguments.shim).is_file():
        print("the library that steps the clock was not built: the clock is not stepped")
        arguments.shim = None
    folder = Path(tempfile.mkdtemp(prefix="telegate-test-"))
    soak = Soak(arguments, folder)
    print(f"seed {arguments.seed}", flush=True)
    try:
        soak.run()
    except (AssertionError, OSError) as error:
        soak.tell(f"cannot continue: {error!r}; exit code of the gateway: {soak.gateway and soak.gateway.process.poll()}")
    finally:
        soak.close()
    for fault in dict.fromkeys(soak.faults):
        print(f"  {fault}")
    if soak.faults:
        print(f"  log and settings are in {folder}")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
