"""The durable log of a gateway that is killed, and that loses power, again and again. Run by ctest; a longer run:
TELEGATE_CRASH_SECONDS=3600. TELEGATE_CRASH_SEED repeats the choices of a run."""

import json
import os
import random
import subprocess
import time

from device_peers import APP, HEAD, main
from gateway_process import DEADLINE_S, wait_a_moment
from durable_log import DurableLogTest, SyncedSamples, settings
from power_loss import Disk

SECONDS = float(os.environ.get("TELEGATE_CRASH_SECONDS", 10))
SEED = int(os.environ.get("TELEGATE_CRASH_SEED", time.time_ns()))


class Crashes(DurableLogTest):
    def setUp(self):
        super().setUp()
        print(f"TELEGATE_CRASH_SEED={SEED}", flush=True)
        self.random = random.Random(SEED)
        self.lives, self.next_position = 0, 0

    def run_lives(self, text, environment=None, allowed=(), after=lambda before: None):
        """Lives of the gateway, each ended by SIGKILL and checked; `after` receives the files from before the life."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end or self.lives < 2:
            before = self.files() if self.log.exists() else {}
            if self.lives > 0 and self.random.random() < 0.2:
                self.kill_during_start(text, environment)
            else:
                self.live(text, environment)
            after(before)
            self.lives += 1
            report = self.check_log(allowed=allowed)
            for epoch in report["epochs"]:  # a sample that was found once must be found again
                for channel in epoch["channels"]:
                    key = epoch["epoch_ms"], channel["topic"]
                    missing = channel["missing"]
                    named = missing and missing[-1]["reason"] == "crash"  # at the end of the epoch
                    last = missing[-1]["first_seq"] - 1 if named else channel["last_seq"]
                    self.known[key] = max(self.known.get(key, 0), last)
        print(f"{self.lives} lives, {report['samples']} samples, {report['gaps']} gaps, {len(report['epochs'])} epochs",
              flush=True)

    def live(self, text, environment):
        gateway = self.start(text, self.folder, env=environment)
        samples = SyncedSamples(gateway)
        log = samples.look()
        self.assertIsNone(log["error"])
        self.assertGreaterEqual(log["next_position"], self.next_position, "a position is used twice")
        end = time.monotonic() + self.random.uniform(0, 1.5)
        while time.monotonic() < end:
            samples.look()
            wait_a_moment()
        gateway.close()
        self.assertNotIn("ledger does not balance", gateway.last_log)
        self.next_position = max(self.next_position, samples.next_position)
        self.note_synced(samples)

    def kill_during_start(self, text, environment):
        config = os.path.join(self.folder, "early.ini")
        with open(config, "w") as file:
            file.write(HEAD + text.replace("{folder}", self.folder))
        process = subprocess.Popen([APP, "--config", config], env=environment, stderr=subprocess.DEVNULL)
        end = time.monotonic() + self.random.uniform(0, 0.3)
        while time.monotonic() < end:
            wait_a_moment()
        process.kill()
        process.wait()

    def lose_power(self, before):
        journal = self.control / "journal"
        disk = Disk(before)
        if journal.exists():
            disk.replay(journal.read_bytes())
            journal.unlink()
        for path in self.log.iterdir():
            path.unlink()
        for name, content in disk.lose_power(self.random).items():
            (self.log / name).write_bytes(content)

    def test_a_killed_gateway_starts_and_its_log_has_or_names_every_sample(self):
        self.run_lives(settings())

    def test_what_a_killed_gateway_had_published_is_named_up_to_its_last_mark(self):
        """Repeats until samples were published that had not been logged."""
        end = time.monotonic() + DEADLINE_S
        named = 0
        while named == 0 and time.monotonic() < end:
            gateway = self.start(settings(), self.folder)
            epoch = gateway.status()["epoch"]
            self.eventually(lambda gateway=gateway: gateway.status()["log"]["samples"] > 0, "logged samples")
            latest = gateway.json("/samples/latest")["samples"]
            since = time.time_ns()
            marks = [self.log / name for name in ("mark0", "mark1")]
            self.eventually(lambda: all(mark.exists() and mark.stat().st_mtime_ns > since for mark in marks), "two marks")
            gateway.close()
            gateway = self.start(settings(), self.folder)
            run = next(each for each in gateway.status()["previous_runs"] if each["epoch"] == epoch)
            self.assertFalse(run["stopped_cleanly"])
            self.assertGreaterEqual(run["log"]["captured"], sum(each["seq"] for each in latest))
            self.assertIsNotNone(run["log"]["last_sample"])
            gateway.stop()
            logged = next(each for each in self.check_log()["epochs"] if each["epoch_ms"] == epoch)
            found = {each["topic"]: each for each in logged["channels"]}
            for each in latest:
                self.assertGreaterEqual(found[each["device"] + "/" + each["channel"]]["last_seq"], each["seq"])
            named = sum(gap["last_seq"] - gap["first_seq"] + 1 for channel in logged["channels"]
                        for gap in channel["missing"] if gap["reason"] == "crash")
            self.assertEqual(run["log"]["lost"], named)
            with open(self.folder + "/state") as file:
                state = {each["epoch"]: each["channels"] for each in json.load(file)["epochs"]}
            self.assertEqual(state[epoch], {topic: channel["last_seq"] for topic, channel in found.items()})
        self.assertGreater(named, 0)

    def test_a_run_that_stopped_cleanly_lost_nothing_of_its_log(self):
        gateway = self.start(settings(), self.folder)
        self.eventually(lambda: self.is_written(gateway), "the log is written")
        self.assertEqual(gateway.status()["previous_runs"], [])
        epoch = gateway.status()["epoch"]
        gateway.stop()
        captured = sum(channel["last_seq"] for each in self.check_log()["epochs"] for channel in each["channels"])
        gateway = self.start(settings(), self.folder)
        run = gateway.status()["previous_runs"][-1]
        self.assertEqual((run["epoch"], run["stopped_cleanly"]), (epoch, True))
        self.assertEqual((run["log"]["captured"], run["log"]["lost"]), (captured, 0))
        self.assertRegex(run["log"]["last_sample"], r"^20\d\d-.*Z$")
        gateway.stop()

    def test_segments_come_and_go_while_the_gateway_is_killed(self):
        self.run_lives(settings("bytes_max = 1MiB"), allowed=("retention",))

    def test_a_power_failure_loses_nothing_that_was_synced(self):
        self.log.mkdir()
        self.run_lives(settings(), self.environment(), after=self.lose_power)

    def test_a_power_failure_while_segments_come_and_go_loses_nothing_that_was_synced(self):
        self.log.mkdir()
        self.run_lives(settings("bytes_max = 1MiB"), self.environment(), ("retention",), self.lose_power)


if __name__ == "__main__":
    main()
