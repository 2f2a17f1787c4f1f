"""A subscriber that checks each sample against the guarantees of the gateway: seqs, qualities, times, and continuity."""

import bisect
import calendar
import json
import threading
import time

import waiting  # noqa: F401, has the path of the next one
import raw_zmtp

NS = 1_000_000_000
FAULTS_MAX = 50  # reported; one cause may produce thousands
CLOSE_NS = 1_000_000  # between two reads of the two clocks
APART_NS = 40_000_000  # the same, if the thread was preempted in between; less than any step
APART_SHARE_MAX = 0.001
LOOK_NS = NS // 4  # how often a normal time of a channel is kept
# A time is computed from a read of the wall clock shortly before or after it.
EARLY_NS, LATE_NS = NS // 10, 3 * NS // 2


def ns_of(text):
    """Returns the ns of a time in the format of samples: 2026-11-20T23:11:34.123456789Z."""
    whole, fraction = text.rstrip("Z").split(".")
    return int(time_of(whole)) * NS + int(fraction)


def time_of(text, known={}):
    """Caches the last result, because most samples are of the same second as the previous one."""
    if text not in known:
        known.clear()
        known[text] = calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))
    return known[text]


class Subscriber(raw_zmtp.RawPeer):
    """Replies to the publisher's PINGs, so that the connection stays open."""

    def receive_message(self):
        frames = []
        while True:
            flags, body = self.receive_frame()
            if flags & raw_zmtp.COMMAND:
                if body.startswith(b"\x04PING"):
                    self.send(raw_zmtp.command(b"PONG", body[7:]))
                continue
            frames.append(body)
            if not flags & raw_zmtp.MORE:
                return frames


class Channel:
    def __init__(self):
        self.last_seq = 0
        self.value = None
        self.seen_ns = None  # of the last sample in offsets
        self.offsets = []  # (mono_ns, wall clock minus monotonic clock)


class SampleWatch:
    """Threads: its own thread receives; other threads read numbers or copies."""

    def __init__(self, endpoint, healthy, aligned):
        self.healthy = healthy  # names
        self.points = {name: [] for name in aligned}  # (mono_ns, utc_ns) of each reading
        self.channels = {}
        self.arrived = {}  # by device: mono_ns of its last sample
        self.silence_ns = dict.fromkeys(healthy, 0)  # the longest
        self.samples = self.gapped = 0
        self.faults = []
        self.bad = []  # (mono_ns, what) of samples without a value from healthy devices
        self.ended = False
        self.peer = Subscriber(raw_zmtp.socket.create_connection(raw_zmtp.tcp_address(endpoint)), b"SUB", 1)
        self.peer.send(raw_zmtp.command(b"SUBSCRIBE"))
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def tell(self, fault):
        if len(self.faults) < FAULTS_MAX:
            self.faults.append(fault)

    def run(self):
        try:
            while True:
                self.take(*self.peer.receive_message())
        except (EOFError, OSError) as error:
            self.peer.close()  # a stopping gateway waits for this
            if not self.ended:
                self.tell(f"the subscriber lost its connection: {error}")
        except Exception as error:  # otherwise the thread would end silently
            self.tell(f"the subscriber cannot continue: {error!r}")
            raise

    def take(self, topic, payload):
        topic, _, notice = topic.decode().partition("$")
        told = json.loads(payload)
        channel = self.channels.setdefault(topic, Channel())
        if notice == "gap":
            self.count(topic, channel, told["first_seq"], told["last_seq"])
            self.gapped += told["last_seq"] - told["first_seq"] + 1
        elif not notice:
            self.count(topic, channel, told["seq"], told["seq"])
            self.samples += 1
            self.look_at(topic, channel, told)

    def count(self, topic, channel, first, last):
        if first != channel.last_seq + 1:
            self.tell(f"{topic}: {first} came after {channel.last_seq}")
        channel.last_seq = last

    def look_at(self, topic, channel, sample):
        device = sample["device"]
        channel.value = sample["value"]
        if "mono_ns" not in sample:
            return
        mono, utc = sample["mono_ns"], ns_of(sample["time"])
        offset = utc - mono
        if not channel.offsets or mono - channel.seen_ns > LOOK_NS or abs(offset - channel.offsets[-1][1]) > CLOSE_NS:
            channel.offsets.append((mono, offset))
            channel.seen_ns = mono
        if device in self.healthy:
            if self.arrived.get(device):
                self.silence_ns[device] = max(self.silence_ns[device], mono - self.arrived[device])
            if sample["quality"] == "bad" and device not in ("gateway", "host"):  # their values depend on this machine
                self.bad.append((mono, f"{topic}: {sample['seq']} is bad although its device is healthy"))
        self.arrived[device] = mono
        points = self.points.get(device)
        if points is not None and (not points or mono - points[-1][0] > CLOSE_NS):
            points.append((mono, utc))

    def forget(self, device):
        """Excludes an expected silence of the device."""
        self.arrived[device] = None
        if device in self.points:
            self.points[device] = []

    def close(self):
        self.ended = True
        try:
            self.peer.connection.shutdown(raw_zmtp.socket.SHUT_RDWR)
        except OSError:  # closed
            pass
        self.thread.join()


class Steps:
    """Offsets between the wall clock and the monotonic clock over time."""

    def __init__(self, offset):
        self.at = [0]
        self.until = [0]  # the step was made between at and until
        self.offsets = [offset]

    def add(self, at, until, offset):
        self.at.append(at)
        self.until.append(until)
        self.offsets.append(offset)

    def possible(self, mono_ns):
        """Returns the offsets that a sample of that time may have."""
        first = bisect.bisect_right(self.until, mono_ns - LATE_NS) - 1
        last = bisect.bisect_right(self.at, mono_ns + EARLY_NS) - 1
        return self.offsets[max(first, 0):last + 1]


def time_faults(watch, steps):
    """Yields channels with times that match neither the offset before nor after a step."""
    for topic, channel in sorted(watch.channels.items()):
        off = [(min(abs(offset - each) for each in steps.possible(mono)), mono) for mono, offset in channel.offsets]
        off = [each for each in off if each[0] > CLOSE_NS]
        if off and (max(off)[0] > APART_NS or len(off) > APART_SHARE_MAX * len(channel.offsets) + 1):
            most, mono = max(off)
            yield (f"{topic}: of {len(channel.offsets)} times {len(off)} do not match the monotonic ones; the worst by "
                   f"{most / 1e6:.1f} ms at {mono}, steps were made at {steps.at[1:]}")


class Alignment:
    """Checks the readings of an aligned device: at multiples of the wall clock, except for the first after a step."""

    OFF_SHARE_MAX = 0.01

    def __init__(self, points, grid_ns, late_max_ns, steps):
        self.interval, self.offset = grid_ns
        self.late_max = late_max_ns
        self.points = points
        self.steps = steps
        self.off = [point for point in points if self.is_settled(point[0]) and self.phase(point[1]) > self.late_max]
        self.gaps = [(now[0], now[0] - before[0]) for before, now in zip(points, points[1:])]

    def phase(self, utc):
        """Returns the delay after the multiple; a reading slightly before it counts as 0."""
        behind = (utc - self.offset) % self.interval
        return 0 if self.interval - behind < CLOSE_NS else behind

    def is_settled(self, mono):
        step = bisect.bisect_right(self.steps.at, mono) - 1
        return mono > self.steps.until[step] + 3 * self.interval // 2

    def odd_gaps(self):
        return [(mono, gap) for mono, gap in self.gaps
                if gap < self.interval // 2 - self.late_max or gap > 3 * self.interval // 2 + self.late_max]

    def faults(self, name):
        allowed = self.OFF_SHARE_MAX * len(self.points) + 1
        if not self.points:
            yield f"{name}: no reading has a monotonic time"
        if len(self.off) > allowed:
            mono, utc = self.off[0]
            yield (f"{name}: {len(self.off)} of {len(self.points)} readings are not at multiples of the wall clock; "
                   f"the first at {mono}, late by {self.phase(utc) / 1e6:.1f} ms")
        odd = self.odd_gaps()
        if len(odd) > allowed:
            yield (f"{name}: {len(odd)} of {len(self.gaps)} intervals between readings are wrong: "
                   f"{[gap / 1e6 for _, gap in odd[:5]]} ms")
        after = [(mono, gap) for mono, gap in odd if not self.is_settled(mono)]
        if len(after) > 1:
            yield f"{name}: {len(after)} bursts or gaps after steps: {[gap / 1e6 for _, gap in after[:5]]} ms"
