"""Draws whole deployments of a gateway from seeds: its devices, its consumers, and what fails when. shapes.py runs them."""

import math
import random

RATE_MAX = 4_000  # samples per second of a deployment: less than what a busy machine with a debug build takes
SMALL_DISK_BYTES = (384 * 1024, 1024 * 1024)
LOCAL_DRIVERS = ("simulated", "simulated", "host", "gateway", "clock", "replay")
CONTROLLED = ("udp", "udp", "udp", "exec", "exec_continuous", "http")
WAVEFORMS = ("noise", "counter", "sine", "random_walk", "ramp", "square")
UPLINKS = ("honest", "nats", "absent", "slow", "silent", "no_tls", "no_acknowledgment", "huge", "pings", "errors")
POLICIES = ("drop_oldest", "drop_newest", "disconnect", "block", "conflate")
CLOCKS = ("right",) * 4 + ("year_1970", "year_ahead", "stepping", "stepping")
EVENTS = ("reload", "reload", "kill", "restart", "stop_devices", "leave", "pause")
DAY_S, HOUR_MS = 86_400, 3_600_000
STEPS_S = (0.05, 1.5, 100, DAY_S, 400 * DAY_S)


class Device:
    def __init__(self, kind, name, channels, interval_ms):
        self.kind, self.name, self.channels, self.interval_ms = kind, name, channels, interval_ms

    def __str__(self):
        return f"{self.kind} ({self.channels} channels each {self.interval_ms} ms)"


class Endpoint:
    """`subscribers`: for each, whether it reads, pauses until the end, or never reads."""

    def __init__(self, policy, form, subscribers):
        self.policy, self.form, self.subscribers = policy, form, subscribers

    def __str__(self):
        return f"{self.form} {self.policy} [{', '.join(self.subscribers)}]"


def draw_interval_ms(chosen, channels):
    """Returns 10 ms to an hour, evenly on a logarithmic scale, but not more than the rate allows."""
    shortest = max(10, 1_000 * channels / RATE_MAX)
    return round(shortest * (HOUR_MS / shortest) ** (chosen.random() ** 1.5))


class Deployment:
    """The same seed always draws the same. Limits that no deployment exceeds make sure that a loss has a reason."""

    def __init__(self, seed):
        self.seed = seed
        chosen = self.random = random.Random(seed)
        self.draw_queue(chosen)
        self.draw_devices(chosen)
        self.draw_endpoints(chosen)
        self.draw_log(chosen)
        self.draw_uplink(chosen)
        self.draw_surroundings(chosen)

    def draw_queue(self, chosen):
        self.queue_size = chosen.choice((None, None, None, 16, 200, 65_536, 262_144))
        self.queue_policy = chosen.choice(("drop_oldest", "drop_oldest", "drop_newest", "block"))
        self.io_threads = chosen.choice((1, 1, 1, 3))
        self.state_file = chosen.random() < 0.7
        self.logs_half = chosen.random() < 0.2
        self.heartbeat_ms = chosen.choice((0, 0, 200, 1_000))
        self.last_value = chosen.random() < 0.3

    def draw_devices(self, chosen):
        size = chosen.choices(("few", "hundreds", "thousands"), (5, 3, 2))[0]
        budget = {"few": chosen.randint(1, 30), "hundreds": chosen.randint(50, 1_500),
                  "thousands": chosen.randint(2_000, 20_000)}[size]
        self.devices = []
        self.add(chosen, chosen.choice(CONTROLLED if size == "few" else ("udp",)), budget // chosen.choice((1, 2, 4)) or 1)
        while self.channels() < budget and len(self.devices) < 60:
            kind = chosen.choice(LOCAL_DRIVERS + CONTROLLED if size == "few" else ("simulated", "simulated", "udp"))
            self.add(chosen, kind, budget - self.channels())
        for _ in range(chosen.choice((0, 0, 1, 2))):
            self.add(chosen, chosen.choice(LOCAL_DRIVERS + CONTROLLED + ("hanging",)), 1)
        excess = sum(1_000 * each.channels / each.interval_ms for each in self.devices) / RATE_MAX
        for device in self.devices:
            device.interval_ms = min(HOUR_MS, math.ceil(device.interval_ms * max(1, excess)))

    def add(self, chosen, kind, channels):
        if kind == "simulated":  # copies of all signals, or one signal each
            channels = min(channels - channels % len(WAVEFORMS), 600) or min(channels, len(WAVEFORMS))
        elif kind != "udp":
            channels = 1
        self.devices.append(Device(kind, f"d{len(self.devices)}", channels, draw_interval_ms(chosen, channels)))

    def channels(self):
        return sum(device.channels for device in self.devices)

    def draw_endpoints(self, chosen):
        self.endpoints = []
        has_subscribers = chosen.random() < 0.55
        for _ in range(chosen.choice((1, 1, 2, 3)) if has_subscribers else chosen.choice((0, 1))):
            policy = chosen.choice(POLICIES)
            form = chosen.choice(("json", "record", "record"))
            kinds = ("reads", "reads", "pauses", "stalls")
            self.endpoints.append(Endpoint(policy, form, [chosen.choice(kinds) for _ in range(chosen.randint(0, 3))]
                                           if has_subscribers else []))
        if has_subscribers and not self.subscribers():
            self.endpoints[0].subscribers.append("reads")

    def subscribers(self):
        return [kind for endpoint in self.endpoints for kind in endpoint.subscribers]

    def draw_log(self, chosen):
        self.log = None
        if chosen.random() < 0.85:
            self.log = {"sync_interval": chosen.choice(("0ms", "50ms", "1s")),
                        "when_full": chosen.choice(("drop_oldest", "drop_newest", "block")),
                        "age_max": chosen.choice((0, 0, "1h", "30d"))}
        self.limit = chosen.choices((None, "small_disk", "full_disk", "free_bytes"), (5, 2, 2, 1))[0] if self.log else None
        self.small_disk_bytes = chosen.randint(*SMALL_DISK_BYTES)

    def leaves_out_devices(self):
        """The settings cannot name a device that is removed."""
        return self.logs_half and self.end != "remove_devices"

    def is_logged(self, device):
        """Returns whether the log has the device: every second one if it leaves out some."""
        return not self.leaves_out_devices() or int(device.name[1:]) % 2 == 0

    def draw_uplink(self, chosen):
        self.uplink = chosen.choice(UPLINKS) if self.log and chosen.random() < 0.5 else None
        self.uplink_form = chosen.choice(("json", "json", "record"))
        self.uplink_order = chosen.choice(("strict", "live_first"))

    def draw_surroundings(self, chosen):
        self.clock = chosen.choice(CLOCKS)
        self.steps_s = [chosen.choice(STEPS_S) * chosen.choice((1, -1)) for _ in range(3)]
        self.is_watched = chosen.random() < 0.4
        self.events = [chosen.choice(EVENTS) for _ in range(chosen.choice((0, 1, 1, 2, 2)))]
        if self.limit in ("full_disk", "free_bytes"):
            self.events.insert(chosen.randint(0, len(self.events)), "fill")
        for _ in self.steps_s if self.clock == "stepping" else ():
            self.events.insert(chosen.randint(0, len(self.events)), "step")
        self.waits_s = [chosen.uniform(0.3, 0.9) for _ in range(len(self.events) + 1)]
        self.end = chosen.choice(("quiet", "stop_devices", "remove_devices"))

    def traits(self):
        """Returns names of the shapes that this deployment has."""
        queues = {None: "default queue", 16: "small queue", 200: "small queue"}
        found = {"no subscriber": not self.subscribers(), "log": self.log, "many channels": self.channels() >= 2_000,
                 "stalled subscriber": {"stalls", "pauses"} & set(self.subscribers()), "small disk": self.limit,
                 "kill": "kill" in self.events, "reload": "reload" in self.events, "restart": "restart" in self.events,
                 "wrong clock": self.clock != "right", "half a log": self.log and self.leaves_out_devices(),
                 "status polled": self.is_watched,
                 queues.get(self.queue_size, "large queue"): True, f"uplink {self.uplink}": self.uplink,
                 "slow device": any(device.interval_ms > 60_000 for device in self.devices)}
        return {name for name, has in found.items() if has}

    def __str__(self):
        log = self.log and " ".join(f"{key}={value}" for key, value in self.log.items())
        kinds = {}
        for device in self.devices:
            kinds.setdefault(device.kind, []).append(device)
        devices = ", ".join(str(each[0]) if len(each) == 1 else f"{len(each)} {kind} "
                            f"({sum(device.channels for device in each)} channels each {min(d.interval_ms for d in each)} to "
                            f"{max(d.interval_ms for d in each)} ms)" for kind, each in kinds.items())
        return (f"queue={self.queue_size or 'default'} {self.queue_policy}, devices: {devices}; "
                f"endpoints: {', '.join(map(str, self.endpoints)) or 'none'}; log: {log or 'none'}, limit={self.limit}, "
                f"uplink={self.uplink}, logs_half={self.logs_half}, state_file={self.state_file}, clock={self.clock}, "
                f"watched={self.is_watched}, events: {', '.join(self.events) or 'none'}, end={self.end}")
