"""The oracle of shapes.py: each consumer must have received every sample, or have been notified that it is missing. It
knows what was sent and shares no code with the gateway. shape_checks_test.py tests it with wrong samples."""

import collections
import json
import struct
import subprocess

from waiting import DEADLINE_S, ENVIRONMENT

RECORD = struct.Struct("<qqQBBBBI32s")  # docs/wire.md
GAP, HEARTBEAT = 16, 17
REASONS = {1: "queue_overflow", 2: "shutdown", 3: "slow", 4: "expired", 5: "log_slow", 6: "log_full", 7: "crash", 8: "damaged",
           9: "retention", 10: "unknown", 11: "refused"}
NEVER = ("unknown", "damaged")
OTHER_SLACK_S = 1  # for devices other than datagrams


def record_value(kind, value):
    if kind == 1:
        return struct.unpack_from("<d", value)[0]
    return struct.unpack_from("<q", value)[0] if kind == 2 else None


class Seen:
    """The samples that a consumer received, by number, and the ranges reported to it as missing."""

    def __init__(self, name):
        self.name = name
        self.samples = collections.defaultdict(dict)  # (epoch, topic): {seq: value}
        self.gaps = collections.defaultdict(list)  # (epoch, topic): [(first, last, reason)]
        self.repeated = 0

    def sample(self, epoch, topic, seq, value):
        samples = self.samples[epoch, topic]
        self.repeated += seq in samples
        samples[seq] = value

    def gap(self, epoch, topic, first, last, reason):
        self.gaps[epoch, topic].append((first, last, reason))

    def add_json(self, each):
        topic = each["device"] + "/" + each["channel"]
        if "first_seq" in each:
            self.gap(each["epoch"], topic, each["first_seq"], each["last_seq"], each["reason"])
        else:
            self.sample(each["epoch"], topic, each["seq"], each["value"])

    def add_record(self, topic, record):
        _, epoch, seq, kind, _, _, _, _, value = record
        if kind == GAP:
            last, reason = struct.unpack_from("<QB", value)
            self.gap(epoch, topic, seq, last, REASONS.get(reason, reason))
        elif kind != HEARTBEAT:
            self.sample(epoch, topic, seq, record_value(kind, value))

    def add_message(self, form, payload):
        """A message of an uplink."""
        if form == "json":
            for line in payload.splitlines():
                self.add_json(json.loads(line))
            return
        count, table_bytes = struct.unpack_from("<II", payload)
        topics = payload[8:8 + table_bytes].decode().split("\n")[:count]
        for record in RECORD.iter_unpack(payload[8 + table_bytes:]):
            self.add_record(topics[record[7]], record)

    def keys(self):
        return self.samples.keys() | self.gaps.keys()

    def epochs(self):
        return sorted({epoch for epoch, _ in self.keys()})

    def last(self, key):
        return max([*self.samples.get(key, ()), *(last for _, last, _ in self.gaps.get(key, ()))], default=0)

    def last_sample(self, key):
        return max(self.samples.get(key, ()), default=0)

    def reasons(self):
        found = collections.Counter()
        for gaps in self.gaps.values():
            for first, last, reason in gaps:
                found[reason] += last - first + 1
        return found

    def coverage_faults(self, may_overlap=False):
        """Every number from 1 to the last one must be a sample or missing for a reason, and only one of them. Gaps of an
        uplink that was restarted may overlap with samples."""
        for key in self.keys():
            samples = self.samples.get(key, {})
            expected = 1
            ranges = sorted([(seq, seq) for seq in samples] + [(first, last) for first, last, _ in self.gaps.get(key, ())])
            for first, last in ranges:
                if first > expected or (first < expected and not may_overlap):
                    yield f"{self.name}: {key}: {first}..{last} follows {expected - 1}"
                    break
                expected = max(expected, last + 1)

    def reason_faults(self, allowed):
        for reason, count in self.reasons().items():
            if reason in NEVER or reason not in allowed:
                key, gap = next((key, gap) for key, gaps in self.gaps.items() for gap in gaps if gap[2] == reason)
                yield f"{self.name}: {count} samples are missing because of {reason}, which nothing explains: {key} {gap}"


def add_export(seen, line):
    each = json.loads(line)
    seen.sample(each["epoch_ms"], each["topic"], each["seq"], each["value"])


def read_log(program, path, name):
    """Returns what a log has, and faults of its own account of it."""
    seen, faults = Seen(name), []

    def run(*command):
        return subprocess.run([program, *command], capture_output=True, text=True, check=False, env=ENVIRONMENT,
                              timeout=DEADLINE_S)
    verified = run("verify", path, "--json")
    if verified.returncode not in (0, 1) or not verified.stdout:
        return seen, [f"{name}: gateway_log verify: {verified.stderr.strip()}"]
    report = json.loads(verified.stdout)
    exported = run("export", path, "--format", "json", "--output", "-")  # may have more, if the gateway is running
    for line in exported.stdout.splitlines():
        add_export(seen, line)
    for epoch in report["epochs"]:
        for channel in epoch["channels"]:
            key = epoch["epoch_ms"], channel["topic"]
            seen.gaps[key] += [(each["first_seq"], each["last_seq"], each["reason"]) for each in channel["missing"]]
            if len(seen.samples.get(key, ())) < channel["samples"] - channel["duplicates"]:
                faults.append(f"{name}: {key}: verify counts {channel['samples']} samples, export has "
                              f"{len(seen.samples.get(key, ()))}")
    if not report["complete"]:
        faults.append(f"{name}: gateway_log verify: {run('verify', path).stdout.strip().splitlines()[-1]}")
    return seen, faults


class Life:
    """One run of the gateway. `bases`: values that each device had sent before it; `named`: those that each consumer must
    have or name as missing; `written`: those that it must have if there is no limit."""

    def __init__(self, truths):
        self.truths = truths
        self.bases = self.newest(float("inf"))
        self.named, self.written = {}, {}
        self.epoch, self.was_killed, self.was_full = None, False, False

    def newest(self, before, slack_s=0):
        return {truth.name: truth.newest(before - (0 if truth.is_exact else slack_s)) for truth in self.truths}

    def end(self, at, slack_s, killed_s=None):
        """Called at the end, because some devices only know their last value. Everything that was sent before `at` must be
        named; if the gateway was not killed, all that datagrams had. `slack_s`: how long a reading may have taken.
        `killed_s`: how much earlier it must have been sent to be written in spite of a kill."""
        self.was_killed = killed_s is not None
        slow_s = OTHER_SLACK_S + 2 * slack_s  # commands and servers wait for a processor, too
        self.named = self.newest(at - slack_s if self.was_killed else at, slow_s)
        self.written = self.newest(at - slack_s - killed_s, slow_s) if self.was_killed else self.named

    def sent(self, truth):
        return self.named[truth.name] - self.bases[truth.name]


def truth_faults(seen, truth, life):
    """Compares what one device has sent in a run with what a consumer has. Allowed losses are checked by their reasons."""
    base = life.bases[truth.name]
    named, written = (until[truth.name] - base for until in (life.named, life.written))
    for topic in truth.topics:
        key = life.epoch, topic
        samples = seen.samples.get(key, {})
        if truth.is_exact:
            wrong = next(((seq, value) for seq, value in samples.items() if value != base + seq), None)
            if wrong:
                yield f"{seen.name}: {key}: sample {wrong[0]} has the value {wrong[1]} instead of {base + wrong[0]}"
            if seen.last(key) < named:
                yield f"{seen.name}: {key}: ends with {seen.last(key)} of {named} that were sent: neither there nor missing"
            crash = next((first for first, _, reason in seen.gaps.get(key, ()) if reason == "crash"), None)
            if crash is not None and crash <= written:
                yield f"{seen.name}: {key}: {crash} is missing because of a crash, but it was sent more than a second before"
            continue
        values = [samples[seq] for seq in sorted(samples) if samples[seq] is not None]
        if values != sorted(values):
            yield f"{seen.name}: {key}: values go back: {values[:50]}"
        if named > 0 and max(values, default=0) < base + written and seen.last(key) == seen.last_sample(key):
            yield f"{seen.name}: {key}: the newest value is {max(values, default=0)}, but {base + written} was sent"


def ledger_faults(name, ledger):
    lost = sum(ledger["dropped"].values())
    if ledger["sampled"] != ledger["published"] + ledger["filtered"] + ledger["queued"] + lost:
        yield f"the ledger of {name} does not balance: {ledger}"


def status_faults(status):
    """Checks the sums of all ledgers, and that they agree with what the gateway says about them."""
    if not status["ledger"]["balanced"]:
        yield f"ledger.balanced is false: {status['ledger']['total']} {status['queue']}"
    yield from ledger_faults("all devices", status["ledger"]["total"])
    for name, ledger in status["ledger"]["devices"].items():
        yield from ledger_faults(name, ledger)
        if not ledger["balanced"]:
            yield f"the ledger of {name} says that it does not balance: {ledger}"
    transport = status["transport"]
    for each in (transport, *transport["subscribers"]):
        if each["matched"] != each["sent"] + each["dropped"] + each["pending"] or not each["balanced"]:
            yield f"the ledger of a subscriber does not balance: {each}"
    for each in status["uplinks"]:
        samples = each["samples"]
        if not samples["balanced"] or samples["read"] != sum(
                samples[part] for part in ("acknowledged", "in_flight", "quarantined", "gaps", "returned")):
            yield f"the ledger of uplink {each['name']} does not balance: {samples}"
    for each in status["consumers"]:
        if each["taken"] + each["missing"] > status["ledger"]["total"]["sampled"]:
            yield f"consumer {each['name']} has more than was sampled: {each}"


def shortened(faults, most=6):
    """Returns the first faults, and how many there are."""
    faults = list(faults)
    return faults if len(faults) <= most else [*faults[:most], f"... and {len(faults) - most} more"]
