"""The durable log of a gateway that is killed, and that loses power, again and again. Run by ctest; a longer run:
TELEGATE_CRASH_SECONDS=3600. TELEGATE_CRASH_SEED repeats the choices of a run."""

import os
import random
import subprocess
import time

from device_peers import APP, HEAD, main, pause
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
                    self.known[key] = max(self.known.get(key, 0), channel["last_seq"])
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
            pause()
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
            pause()
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
