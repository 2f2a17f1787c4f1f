#!/usr/bin/env python3
"""Runs gateways of drawn shapes and checks that none of them loses a sample without a word.

Usage: tests/chaos/shapes.py [--seeds 1..200] [--seed N] [--jobs N] [--fixed] [--show]     default: the fixed seeds

A seed draws a whole deployment (shape_draw.py): devices of all kinds with 1 to 20,000 channels, intervals from 10 ms to an
hour, the queue, endpoints with subscribers that read or not, a durable log with or without a limit, an uplink to an
honest or hostile server, a right, wrong or stepping clock, and what happens: reloads, kills, restarts, a full disk. Most
deployments have no subscriber or do not request the status meanwhile, because both wake the gateway up.

Checked, with the truth of the devices that the test controls: the process lives and stops in time; every sample is
delivered to each consumer or reported to it as missing, for a reason that the deployment explains; a sample reaches the log,
REST and an uplink within a second of its reading; the ledgers balance at every read; memory stays within limits.

A failing seed prints itself, its deployment and the reason; --seed N repeats it. Run by ctest with --fixed and the paths
of the programs in TELEGATE_GATEWAY_APP and TELEGATE_GATEWAY_LOG; by default, those of the release build are used.
"""

import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from shape_checks import Life, Seen, read_log, shortened, truth_faults
from shape_devices import Devices
from shape_draw import Deployment
from shape_gateway import (ABSENT_PORT, AMPLE_DISK_BYTES, FREE_BYTES_MIN, PUBLISH_PORT, STOP_S, Disk, Process, Settings,
                           ShapeClock, own_address)
from shape_servers import FakeNats, RealNats, has_nats
from shape_subscribers import Subscriber
from waiting import eventually, wait_a_moment

BUILD = Path(__file__).resolve().parents[2] / "build"
APP = os.environ.get("TELEGATE_GATEWAY_APP", BUILD / "gateway/gateway_app")
LOG = os.environ.get("TELEGATE_GATEWAY_LOG", BUILD / "tools/gateway_log")
PROMISED_S = 1  # from a reading to each consumer
MARKED_S = 0.1  # before a kill: published samples that are named after the next start
GRACE_S = 0.7  # for the test itself
CATCH_UP_S = 20
HONEST = ("honest", "nats", "slow")
SEED_S = 300
# Seeds for each build, with the traits that they are there for.
FIXED = {7: {"no subscriber", "log", "default queue"}, 225: {"many channels", "no subscriber"},
         53: {"stalled subscriber", "log", "wrong clock"}, 158: {"uplink absent", "log"}, 45: {"small disk", "kill", "restart"},
         83: {"half a log"}}


class Shape:
    """One deployment from start to end; `faults` is what was found."""

    def __init__(self, deployment, folder):
        self.deployment, self.folder, self.address = deployment, folder, own_address()
        self.faults, self.lives, self.excused = [], [], 0
        self.checks_memory = os.environ.get("TELEGATE_CHECK_MEMORY", "1") != "0"
        self.subscribers, self.server = [], None
        self.disk = self.make_disk()
        self.log_path = self.disk.path / "log"
        self.clock = ShapeClock(folder, deployment.clock)
        self.devices = Devices(deployment, folder, self.address)
        self.settings = Settings(deployment, self.devices, self)
        self.start_server()
        self.gateway = Process(self, APP, self.clock)
        self.is_full = False

    def make_disk(self):
        deployment = self.deployment
        size = {"small_disk": deployment.small_disk_bytes, "full_disk": AMPLE_DISK_BYTES}.get(deployment.limit)
        disk = Disk(self.folder, size)
        if size and not disk.is_mounted:  # the same, as far as possible
            deployment.limit = "free_bytes" if "fill" in deployment.events else None
        return disk

    def start_server(self):
        manner = self.deployment.uplink
        if manner == "absent":
            self.uplink_url = f"nats://{self.address}:{ABSENT_PORT}"
        elif manner:
            is_real = manner == "nats" and has_nats()
            self.server = RealNats(self.folder / "nats") if is_real else FakeNats(self.address, manner)
            self.uplink_url = self.server.url

    def tell(self, fault):
        self.faults.append(fault)

    def close(self):
        for subscriber in self.subscribers:
            subscriber.close()
        self.gateway.close()
        self.devices.close()
        if self.server:
            self.server.close()
        self.disk.close()

    # Events

    def run(self):
        self.start()
        for event, wait_s in zip([None, *self.deployment.events], self.deployment.waits_s):
            if event:
                getattr(self, event)()
            wait_a_moment(wait_s)
            if self.gateway.died:
                return
        self.settle()
        if not self.gateway.died:
            self.finish()

    def start(self):
        self.clock.begin()
        self.begun_at = time.monotonic()
        self.lives.append(Life(self.devices.truths))
        self.gateway.start()
        eventually(lambda: self.devices.are_bound() or self.gateway.died, "the sockets are bound")
        if not self.subscribers:
            for number, endpoint in enumerate(self.deployment.endpoints):
                self.subscribers += [Subscriber(f"subscriber {number}.{i} ({kind}, {endpoint.policy})", endpoint, kind,
                                                (self.address, PUBLISH_PORT + number)) for i, kind in enumerate(endpoint.subscribers)]
        if not self.gateway.died:
            self.lives[-1].epoch = self.epoch()
        self.devices.begin()

    def epoch(self):
        """The list of events tells it without waking the gateway up."""
        events = self.gateway.ask("/events?kind=gateway+started&limit=1")["events"]
        return int(re.search(r"epoch=(\d+)", events[-1]["text"]).group(1))

    def allowance_s(self):
        return GRACE_S + self.gateway.waited_s(self.begun_at)

    def pause_devices(self):
        """Returns when everything that was sent has been read."""
        self.devices.pause()
        eventually(lambda: self.devices.are_read() or self.gateway.died, "all datagrams are read")
        return time.monotonic()

    def kill(self):
        if self.deployment.random.random() < 0.5:  # otherwise in the middle of a burst
            self.pause_devices()
            wait_a_moment(self.deployment.random.choice((0.3, 1.2)))
        now, allowance = time.monotonic(), self.allowance_s()
        self.gateway.kill()
        self.devices.pause()
        self.lives[-1].end(now - MARKED_S, allowance, CATCH_UP_S if self.is_troubled() else PROMISED_S)
        self.lives[-1].was_full = self.is_full
        self.start()

    def restart(self):
        self.stop()
        self.start()

    def stop(self):
        self.lives[-1].end(self.pause_devices(), self.allowance_s())
        self.lives[-1].was_full = self.is_full
        seconds = self.gateway.stop()
        if seconds > STOP_S + self.gateway.waited_s(time.monotonic() - seconds) and not self.gateway.is_starved():
            self.tell(f"the stop took {seconds:.1f} s")

    def reload(self):
        chosen, changed = self.deployment.random, self.settings.changed
        changed["extra"] = not changed["extra"]
        changed["queue_size"] = chosen.choice((self.deployment.queue_size, self.deployment.queue_size, 65_536))
        if not self.is_full:
            changed["log"] = {"sync_interval": chosen.choice(("0ms", "50ms", "1s"))}
        self.gateway.reload()

    def stop_devices(self):
        names = [device.name for device in self.deployment.devices if device.kind != "udp"]
        for name in names[:2]:
            self.gateway.ask(f"/devices/{name}/stop", "POST")
            wait_a_moment(0.05)
            self.gateway.ask(f"/devices/{name}/start", "POST")

    def leave(self):
        if self.subscribers:
            self.deployment.random.choice(self.subscribers).leave()

    def pause(self):
        self.pause_devices()
        wait_a_moment(1.3)
        self.devices.resume()

    def step(self):
        if self.clock.library:
            self.clock.step(self.deployment.steps_s.pop())

    def fill(self):
        self.is_full = True
        if self.disk.is_mounted:
            return self.disk.fill()
        self.settings.changed["log"] = {"free_bytes_min": FREE_BYTES_MIN}
        return self.gateway.reload()

    def free(self):
        if self.is_full:
            self.disk.free()
            self.settings.changed["log"] = {}
            self.gateway.reload()
            self.is_full = False
            self.was_filled = True

    # The end: every consumer has every sample, or a report that it is missing

    def settle(self):
        deployment = self.deployment
        self.free()
        self.let_subscribers_read(is_blocking_only=True)
        self.pause_devices()
        self.devices.send_last()
        quiet_at = self.pause_devices()
        self.lives[-1].end(quiet_at, self.allowance_s())
        self.end_devices()
        self.is_stuck = deployment.limit == "small_disk" and deployment.log["when_full"] == "block"
        if self.is_stuck:  # publishing waits for the disk, which stays full
            return
        late_s = CATCH_UP_S if self.is_troubled() else 0
        wait_a_moment(PROMISED_S + GRACE_S)
        for consumer in self.consumers():
            self.wait_for(consumer, quiet_at, late_s)
        self.let_subscribers_read(is_blocking_only=False)
        for subscriber in self.subscribers:
            if subscriber.is_reading:
                self.wait_for(lambda each=subscriber: self.subscriber_faults(each), quiet_at,
                              CATCH_UP_S if subscriber.kind == "pauses" else late_s)

    def is_troubled(self):
        """Whether something has failed or blocked, after which consumers may need longer."""
        return self.deployment.limit or any(endpoint.policy == "block" and set(endpoint.subscribers) - {"reads"}
                                            for endpoint in self.deployment.endpoints)

    def let_subscribers_read(self, is_blocking_only):
        for subscriber in list(self.subscribers):
            if subscriber.policy == "block" or not is_blocking_only:
                subscriber.wake()
                if subscriber.policy == "block" and subscriber.kind == "stalls":
                    self.subscribers.remove(subscriber)
                    subscriber.close()

    def end_devices(self):
        others = [device.name for device in self.deployment.devices if device.kind != "udp"]
        if self.deployment.end == "stop_devices":
            self.gateway.ask("/stop", "POST")
        elif self.deployment.end == "remove_devices" and others:
            self.settings.changed["removed"] = others
            self.gateway.reload()

    def consumers(self):
        found = [self.rest_faults]
        if self.deployment.log:
            found.insert(0, lambda: self.disk_faults(self.log_path, "log"))
        if self.deployment.uplink in HONEST:
            found.insert(0, self.uplink_faults)
        return found

    def wait_for(self, consumer, quiet_at, late_s):
        """A consumer that is complete when it is read for the first time is in time; otherwise, it must be soon."""
        while True:
            begin = time.monotonic()
            faults = list(consumer())
            allowed_s = 2 * PROMISED_S + 2 * GRACE_S + late_s + self.gateway.waited_s(quiet_at)
            if not faults or self.gateway.died:
                return None
            if begin > quiet_at + allowed_s:
                if self.gateway.is_starved():
                    self.excused += 1
                    return None
                return self.tell(f"{begin - quiet_at:.1f} s after the last reading: " + "; ".join(shortened(faults, 3)))
            wait_a_moment(0.2)

    def disk_faults(self, path, name):
        seen, _ = read_log(LOG, path, name)
        yield from self.all_truth_faults(seen)
        topics = collections.Counter(topic.split("/")[0] for epoch, topic in seen.keys() if epoch == self.lives[-1].epoch)
        for device in filter(self.deployment.is_logged, self.deployment.devices):
            least = device.channels if device.kind == "simulated" else 1
            if topics[device.name] < least and device.kind != "hanging" and not self.may_lose():
                yield f"{name}: {topics[device.name]} channels of {device.name} ({device.kind}) have samples instead of {least}"

    def is_gone(self, life, seen):
        """Whether a limit may have removed the whole run from the log, so that nothing of it is named."""
        removes = self.deployment.limit and self.deployment.log["when_full"] == "drop_oldest"
        return removes and life is not self.lives[-1] and life.epoch not in seen.epochs()

    def all_truth_faults(self, seen):
        logged = [device.name for device in filter(self.deployment.is_logged, self.deployment.devices)]
        if self.deployment.leaves_out_devices():
            others = {topic for _, topic in seen.keys() if topic.split("/")[0] not in logged}
            yield from (f"{seen.name}: {topic} is not to be logged" for topic in others)
        for life in self.lives:
            # Marks of new channels need space.
            if not (life.was_killed and life.was_full) and not self.is_gone(life, seen):
                for truth in self.devices.truths:
                    yield from truth_faults(seen, truth, life) if truth.name in logged else ()

    def uplink_faults(self):
        return self.all_truth_faults(self.delivered())

    def delivered(self):
        seen = Seen("uplink")
        for _, headers, payload in list(self.server.messages):
            seen.add_message(headers["Telegate-Format"], payload)
        return seen

    def rest_faults(self):
        life = self.lives[-1]
        for truth in self.devices.truths:
            newest = life.named[truth.name]
            if newest == life.bases[truth.name]:
                continue
            found = {f"{each['device']}/{each['channel']}": each
                     for each in self.gateway.ask(f"/samples/latest?prefix={truth.name}/")["samples"]}
            if self.deployment.end == "remove_devices" and not truth.is_exact:
                continue
            for topic in truth.topics:
                value = found.get(topic, {}).get("value")
                if (value or 0) < newest and not self.may_lose():
                    yield f"REST: the last value of {topic} is {value}, but {newest} was sent"

    def subscriber_faults(self, subscriber):
        """Only an endpoint that disconnects may lose a subscriber; whatever comes later is checked like the rest."""
        if subscriber.policy == "disconnect" and subscriber.kind == "pauses":
            return
        life = self.lives[-1]
        newest = {topic: last for (_, topic), last in sorted(list(subscriber.last.items()))}  # of the last epoch
        for truth in self.devices.truths:
            if not truth.is_exact or not subscriber.connected_at or not truth.sent:
                continue
            sent = life.sent(truth)
            if truth.sent[-1] < subscriber.connected_at + GRACE_S or sent == 0:
                continue
            for topic in truth.topics:
                if newest.get(topic, 0) < sent:
                    yield f"{subscriber.name}: {topic} ends with {newest.get(topic, 0)} of {sent}"

    # Checks at the end

    def finish(self):
        self.check_status()
        self.stop()
        if self.gateway.died:
            return
        if self.deployment.log:
            self.check_disk(self.log_path, "log")
        if self.deployment.uplink in HONEST:
            self.check_uplink()

    def check_status(self):
        status = self.gateway.status()
        devices = {device["name"]: device for device in status["sampler"]["devices"]}
        lost = status["ledger"]["total"]["dropped"]["queue_overflow"]
        if lost and "queue_overflow" not in self.allowed_reasons() and not self.gateway.was_pump_late():
            self.tell(f"the queue has lost {lost} of {status['ledger']['total']['sampled']} samples: {status['queue']}")
        sampled = {each["topic"]: each["ledger"] for each in self.gateway.ask("/channels")["channels"]}
        life = self.lives[-1]
        for truth in self.devices.truths:
            if truth.is_exact and not self.is_stuck and not self.excused:
                due = life.sent(truth)
                wrong = [topic for topic in truth.topics if sampled.get(topic, {"sampled": 0})["sampled"] != due]
                if wrong:
                    self.tell(f"{len(wrong)} channels of {truth.name} have not sampled {due}, which were sent; the first is "
                              f"{wrong[0]}: {sampled.get(wrong[0])}; {devices.get(truth.name)}")

    def may_lose(self):
        """Whether the queue may overflow."""
        deployment, changed = self.deployment, self.settings.changed["queue_size"]
        is_blocked = self.is_troubled() and (deployment.limit is None or deployment.log["when_full"] == "block")
        return is_blocked or any(size is not None and size < 65_536 for size in (deployment.queue_size, changed))

    def allowed_reasons(self):
        limits = {"drop_oldest": {"retention", "log_full"}, "drop_newest": {"log_full"}, "block": set()}
        allowed = {"queue_overflow", "shutdown"} if self.may_lose() else {"shutdown"}
        if any(life.was_killed for life in self.lives):
            allowed.add("crash")
        if self.deployment.limit:
            allowed |= limits[self.deployment.log["when_full"]] | {"log_slow", "queue_overflow"}
        return allowed

    def check_disk(self, path, name):
        seen, faults = read_log(LOG, path, name)
        self.check_seen(seen, faults)
        epochs = [life.epoch for life in self.lives]
        if epochs != sorted(set(epochs)) or not set(seen.epochs()) <= set(epochs):
            self.tell(f"{name}: the runs had the epochs {epochs}, the log has {seen.epochs()}")

    def check_seen(self, seen, faults=()):
        allowed = self.allowed_reasons()
        if self.gateway.was_pump_late():
            allowed.add("queue_overflow")
        self.faults += shortened([*faults, *seen.reason_faults(allowed)])
        if not self.may_lose():  # nothing was being sent when the gateway stopped; other devices may have been read
            sent = {topic for truth in self.devices.truths if truth.is_exact for topic in truth.topics}
            self.faults += shortened(f"{seen.name}: {key} was lost in a stop: {gap}" for key, gaps in seen.gaps.items()
                                     for gap in gaps if key[1] in sent and gap[2] == "shutdown")
        self.faults += shortened(seen.coverage_faults(may_overlap=seen.name == "uplink"), 3)
        if not self.is_stuck and not self.excused:
            self.faults += shortened(self.all_truth_faults(seen), 3)

    def check_uplink(self):
        seen = self.delivered()
        if seen.repeated and len(self.lives) == 1:
            self.tell(f"uplink: {seen.repeated} samples were delivered twice")
        self.check_seen(seen)

    def result(self):
        """Returns all faults."""
        faults = [self.gateway.died] if self.gateway.died else []
        faults += self.faults + self.gateway.faults
        faults += [fault for subscriber in self.subscribers for fault in subscriber.faults]
        faults += [f"the sender failed: {self.devices.failure!r}"] if self.devices.failure else []
        memory = self.gateway.memory_fault()
        log = self.gateway.log_file.read_text() if self.gateway.log_file.exists() else ""
        bad = re.findall(r".*(?:ssertion|does not balance|terminate called).*", log)
        return [each for each in [*faults, memory, *bad[:3]] if each]


def run_seed(seed):
    """Returns whether the seed has found nothing."""
    deployment = Deployment(seed)
    text = str(deployment)
    folder = Path(tempfile.mkdtemp(prefix="telegate-test-"))
    begin, shape, faults = time.monotonic(), None, []
    try:
        shape = Shape(deployment, folder)
        shape.run()
    except Exception:
        faults.append("the test failed: " + traceback.format_exc())
    finally:
        if shape:
            shape.close()
    if shape:
        faults = shape.result() + faults
    seconds = time.monotonic() - begin
    if not faults:
        shutil.rmtree(folder)
        reads = shape.gateway.reads
        busy = f" ({shape.excused} checks omitted: this machine is too busy)" if shape.excused else ""
        print(f"seed {seed}: good{busy}, {seconds:.1f} s, {len(shape.lives)} runs, {reads} status reads, "
              f"{shape.gateway.peak_kib // 1024} MiB; {text}", flush=True)
        return True
    print(f"seed {seed}: FAILED after {seconds:.1f} s; logs are in {folder}\n  deployment: {text}", flush=True)
    for fault in faults:
        print(f"  reason: {fault}", flush=True)
    print(f"  repeat it: tests/chaos/shapes.py --seed {seed}", flush=True)
    return False


def run_apart(seed):
    """Runs a seed in its own process, which has its own addresses."""
    done = subprocess.run([sys.executable, "-B", __file__, "--seed", str(seed)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, timeout=SEED_S)
    print(done.stdout, end="", flush=True)
    return done.returncode == 0


def run_all(seeds, jobs):
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        good = list(pool.map(run_apart, seeds))
    traits = collections.Counter(trait for seed in seeds for trait in Deployment(seed).traits())
    print(f"{len(seeds)} deployments in {time.monotonic() - begin:.0f} s: "
          f"{', '.join(f'{count} {trait}' for trait, count in traits.most_common())}")
    failed = [seed for seed, is_good in zip(seeds, good) if not is_good]
    print(f"{len(failed)} failed" + (f": {', '.join(map(str, failed))}" if failed else ""))
    return not failed


def parse_seeds(text):
    seeds = []
    for part in text.split(","):
        first, _, last = part.partition("..")
        seeds += range(int(first), int(last or first) + 1)
    return seeds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=parse_seeds, help="a range such as 1..200, or a list such as 3,7")
    parser.add_argument("--seed", type=int, help="repeat one seed in this process")
    parser.add_argument("--jobs", type=int, default=1, help="deployments at the same time")
    parser.add_argument("--fixed", action="store_true", help="the fixed seeds")
    parser.add_argument("--show", action="store_true", help="only print the deployments")
    arguments = parser.parse_args()
    seeds = [arguments.seed] if arguments.seed is not None else arguments.seeds or list(FIXED)
    for seed, traits in FIXED.items():
        missing = traits - Deployment(seed).traits()
        assert not missing, f"seed {seed} no longer draws: {missing}; choose other fixed seeds"
    if arguments.show:
        for seed in seeds:
            print(f"seed {seed}: {Deployment(seed)} ({', '.join(sorted(Deployment(seed).traits()))})")
        return 0
    if arguments.seed is not None:
        return 0 if run_seed(arguments.seed) else 1
    return 0 if run_all(seeds, arguments.jobs) else 1


if __name__ == "__main__":
    sys.exit(main())
