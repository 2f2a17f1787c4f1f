"""A gateway with a durable log, and checks of that log, for tests. Run by ctest with TELEGATE_GATEWAY_LOG."""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import time

from device_peers import DeviceTest
from gateway_process import DEADLINE_S

LOG = os.environ["TELEGATE_GATEWAY_LOG"]
SHIM = os.environ.get("TELEGATE_DISK_SHIM_LIBRARY")  # not with sanitizers, which must be loaded first
# The text of /status may be this old.
STATUS_AGE_MAX_S = 0.1

DEVICES = """[device "fast"]
driver = simulated
interval_ms = 2
[device "slow"]
driver = simulated
interval_ms = 50
copies = 3
"""


def settings(log="", path="{folder}/log"):
    """`log`: further lines of the section."""
    return f"[gateway]\nstate_file = {{folder}}/state\nqueue_size = 65536\n[log]\npath = {path}\nsync_interval = 20ms\n{log}\n{DEVICES}"


def verify(directory):
    done = subprocess.run([LOG, "verify", directory, "--json"], capture_output=True, text=True, encoding="utf-8",
                          timeout=DEADLINE_S, check=False)
    report = json.loads(done.stdout) if done.stdout else {}
    if done.returncode != 0 or not report["complete"]:
        raise AssertionError(f"gateway_log verify exited with {done.returncode}: {done.stderr}{report}")
    return report


class SyncedSamples:
    """The last sequence number of each topic that a running gateway has reported as synced."""

    def __init__(self, gateway):
        self.gateway = gateway
        self.epoch = gateway.status()["epoch"]
        self.synced, self.next_position = {}, 0
        self.looks = collections.deque()  # [time, last sequence numbers, samples published by then]

    def look(self):
        now = time.monotonic()
        log = self.gateway.status()["log"]
        for look in self.looks:
            if look[2] is None and now - look[0] > STATUS_AGE_MAX_S:
                look[2] = log["samples"] + log["pending"] + sum(log["dropped"].values())
        settled = log["samples"] + sum(log["dropped"].values())
        while self.looks and self.looks[0][2] is not None and self.looks[0][2] <= settled and \
                log["synced_position"] == log["next_position"]:
            self.synced = self.looks.popleft()[1]
        self.next_position = max(self.next_position, log["next_position"])
        latest = self.gateway.json("/samples/latest")["samples"]
        self.looks.append([time.monotonic(), {f"{each['device']}/{each['channel']}": each["seq"] for each in latest}, None])
        return log


class DurableLogTest(DeviceTest):
    def setUp(self):
        self.folder = self.scratch()
        self.log = pathlib.Path(self.folder, "log")
        self.control = pathlib.Path(self.folder, "control")
        self.control.mkdir()
        self.known = {}  # (epoch, topic): the last sequence number that must be in the log from now on

    def environment(self):
        """Returns that of a gateway with disk_shim.cpp."""
        if not SHIM:
            self.skipTest("no disk_shim: sanitizers must be loaded first")
        return {**os.environ, "LD_PRELOAD": SHIM, "TELEGATE_DISK_SHIM": str(self.log),
                "TELEGATE_DISK_SHIM_CONTROL": str(self.control)}

    def fail_disk(self, error):
        (self.control / "fault.new").write_text(str(error))
        (self.control / "fault.new").rename(self.control / "fault")

    def note_synced(self, samples):
        for topic, seq in samples.synced.items():
            self.known[samples.epoch, topic] = seq

    def check_log(self, directory=None, allowed=()):
        """Checks that the log has, or names as missing, all samples that it ever had, and that those that were synced are
        missing only for the `allowed` reasons. Returns the report."""
        report = verify(directory or self.log)
        found = {(epoch["epoch_ms"], channel["topic"]): channel for epoch in report["epochs"] for channel in epoch["channels"]}
        for key, last_seq in self.known.items():
            if key not in found and "retention" in allowed:
                continue
            self.assertIn(key, found)
            self.assertGreaterEqual(found[key]["last_seq"], last_seq, key)
            lost = [each for each in found[key]["missing"] if each["first_seq"] <= last_seq and
                    each["reason"] not in ("queue_overflow", "log_slow", *allowed)]
            self.assertEqual(lost, [], key)
        return report

    def is_written(self, gateway):
        """Returns whether everything that was published lately is in the log and synced."""
        log = gateway.status()["log"]
        return log["error"] is None and not log["full"] and log["synced_position"] == log["next_position"] and log["samples"] > 0

    def log_check(self, gateway):
        """Returns the check of /readyz, which is not in the list while it passes."""
        return gateway.metric('telegate_check{check="log"}')

    def files(self):
        return {path.name: path.read_bytes() for path in self.log.iterdir()}

    def copy(self, name="copy"):
        return pathlib.Path(shutil.copytree(self.log, pathlib.Path(self.folder, name)))
