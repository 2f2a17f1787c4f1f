"""The durable log of a gateway on a disk that fails, is full, read-only, slow or gone, and in directories that somebody
has changed. Samples are published in all cases, and nothing is missing without a name. Run by ctest."""

import errno
import json
import os
import pathlib
import random
import shutil
import subprocess
import time

from device_peers import main
from durable_log import DurableLogTest, SyncedSamples, settings


class DiskTest(DurableLogTest):
    def published(self, gateway):
        return gateway.status()["ledger"]["total"]["published"]

    def continues_to_publish(self, gateway):
        before = self.published(gateway)
        self.eventually(lambda: self.published(gateway) > before, "samples are published")

    def fails_and_recovers(self, gateway, break_it, fix_it, reason):
        """The log fails with this reason, which is named everywhere, and recovers by itself."""
        self.eventually(lambda: self.is_written(gateway), "the log is written", lambda: gateway.status()["log"])
        break_it()
        self.eventually(lambda: reason in (gateway.status()["log"]["error"] or ""), reason, lambda: gateway.status()["log"])
        self.assertEqual(gateway.metric("telegate_log_ok"), 0)
        self.assertEqual(self.log_check(gateway), 0)
        self.assertIn("cannot write log", gateway.log())
        self.continues_to_publish(gateway)
        fix_it()
        self.eventually(lambda: self.is_written(gateway), "the log is written again", lambda: gateway.status()["log"])
        self.assertEqual(gateway.metric("telegate_log_ok"), 1)
        self.assertEqual(self.log_check(gateway), 1)
        self.assertIn("log is being written again", gateway.log())

    def synced(self, gateway):
        """Notes what is synced now, which must not get lost."""
        samples = SyncedSamples(gateway)
        self.eventually(lambda: samples.look() and samples.synced, "synced samples")
        self.note_synced(samples)


class Faults(DiskTest):
    """A running gateway whose disk fails."""

    def test_a_disk_that_fails_is_retried(self):
        self.log.mkdir()
        gateway = self.start(settings(), self.folder, env=self.environment())
        for error in (errno.EIO, errno.EROFS, errno.ENOSPC):
            with self.subTest(error=os.strerror(error)):
                self.synced(gateway)
                self.fails_and_recovers(gateway, lambda: self.fail_disk(error), (self.control / "fault").unlink,
                                        os.strerror(error))
        gateway.stop()
        self.assertEqual(self.check_log()["missing_by_reason"].get("unknown", 0), 0)

    def test_a_log_on_a_disk_that_fails_from_the_beginning_is_opened_later(self):
        self.log.mkdir()
        self.fail_disk(errno.EROFS)
        gateway = self.start(settings(), self.folder, env=self.environment())
        self.continues_to_publish(gateway)
        self.assertIn(os.strerror(errno.EROFS), gateway.status()["log"]["error"])
        (self.control / "fault").unlink()
        self.eventually(lambda: self.is_written(gateway), "the log is written", lambda: gateway.status()["log"])
        gateway.stop()
        self.check_log()

    def test_a_directory_that_cannot_be_created_is_reported(self):
        self.log.write_text("a file")
        gateway = self.start(settings(), self.folder, env=self.environment())
        self.continues_to_publish(gateway)
        report = gateway.json("/log")
        self.assertIn(str(self.log), report["log"]["error"])
        self.assertEqual(report["segments"], [])
        self.assertIn("ok", gateway.text("/readyz?exclude=log"))
        self.log.unlink()
        self.eventually(lambda: self.is_written(gateway), "the log is written", lambda: gateway.status()["log"])
        self.assertGreater(gateway.json("/log")["seconds_left"], 0)
        gateway.stop()
        self.check_log()

    def test_a_disk_that_stalls_delays_nothing_and_loses_nothing_that_was_synced(self):
        self.log.mkdir()
        gateway = self.start(settings(), self.folder, env=self.environment())
        self.synced(gateway)
        (self.control / "stall").touch()
        before = gateway.status()["log"]
        self.continues_to_publish(gateway)
        self.eventually(lambda: gateway.status()["log"]["pending"] > before["pending"], "pending samples")
        (self.control / "stall").unlink()
        self.eventually(lambda: self.is_written(gateway), "the log is written", lambda: gateway.status()["log"])
        gateway.stop()
        self.check_log()

    def remove_log(self):
        """A file that the gateway creates meanwhile may keep the directory: then it is removed again."""
        directory = self.log.stat().st_ino

        def is_removed():
            shutil.rmtree(self.log, ignore_errors=True)
            return not self.log.exists() or self.log.stat().st_ino != directory
        self.eventually(is_removed, "the directory is removed")

    def test_a_directory_that_is_removed_is_created_again(self):
        for limit in ("", "free_bytes_min = 0"):
            with self.subTest(limit=limit):
                gateway = self.start(settings(limit), self.folder)
                self.eventually(lambda: self.is_written(gateway), "the log is written")
                self.remove_log()
                self.eventually(lambda: list(self.log.glob("*.tgl")) and self.is_written(gateway), "the log is written again",
                                lambda: gateway.status()["log"])
                self.eventually(lambda: "removed or replaced" in gateway.log(), "a line in the log", gateway.log)
                self.continues_to_publish(gateway)
                gateway.stop()
                report = self.check_log()
                self.assertEqual(set(report["missing_by_reason"]) - {"retention", "damaged"}, set())
                shutil.rmtree(self.log)

    def test_segments_removed_while_the_gateway_writes_them_are_noticed(self):
        gateway = self.start(settings("free_bytes_min = 0"), self.folder)
        self.eventually(lambda: self.is_written(gateway), "the log is written")
        removed = [path.unlink() or path.name for path in self.log.glob("*.tgl")]
        self.eventually(lambda: list(self.log.glob("*.tgl")) and self.is_written(gateway), "a new segment",
                        lambda: gateway.status()["log"])
        self.eventually(lambda: "removed or replaced" in gateway.log(), "a line in the log", gateway.log)
        gateway.stop()
        self.assertNotIn(removed[-1], [path.name for path in self.log.glob("*.tgl")])
        self.assertEqual(set(self.check_log()["missing_by_reason"]) - {"retention", "damaged"}, set())

    def test_a_directory_that_is_replaced_is_used(self):
        gateway = self.start(settings("free_bytes_min = 0"), self.folder)
        self.eventually(lambda: self.is_written(gateway), "the log is written")
        self.log.rename(self.folder + "/before")
        self.log.mkdir(exist_ok=True)  # the gateway may have been faster
        self.eventually(lambda: list(self.log.glob("*.tgl")) and self.is_written(gateway), "the log is written again",
                        lambda: gateway.status()["log"])
        other = self.refused()
        self.assertIn("is in use by another gateway", other)
        gateway.stop()
        self.check_log()
        self.check_log(pathlib.Path(self.folder, "before"))

    def refused(self):
        """Starts a second gateway with the same log. Returns why it exits."""
        folder = self.scratch()
        with self.assertRaises(AssertionError) as refusal:
            self.start(settings(path=str(self.log)), folder)
        return str(refusal.exception)

    def test_a_second_gateway_with_the_same_directory_is_refused(self):
        gateway = self.start(settings(), self.folder)
        self.assertIn(f"[log] path: {self.log} is in use by another gateway: each gateway needs its own directory", self.refused())
        self.eventually(lambda: self.is_written(gateway), "the log is written")
        gateway.stop()
        self.check_log()


class Mounts(DiskTest):
    """The same on real file systems, which only root can mount."""

    def mount(self, *arguments):
        done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.skipTest(f"cannot mount a file system here: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.log], check=True)

    def test_a_full_disk_is_retried(self):
        self.log.mkdir()
        self.mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", str(self.log))
        gateway = self.start(settings("free_bytes_min = 0\nwhen_full = drop_newest"), self.folder)
        self.synced(gateway)
        self.fails_and_recovers(gateway, self.fill, (self.log / "other").unlink, os.strerror(errno.ENOSPC))
        gateway.stop()
        self.check_log()

    def fill(self):
        with open(self.log / "other", "wb", buffering=0) as file:
            while True:
                try:
                    file.write(bytes(4096))
                except OSError:
                    return

    def test_a_gateway_that_stops_while_the_disk_is_full_names_what_it_could_not_log(self):
        self.log.mkdir()
        self.mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", str(self.log))
        gateway = self.start(settings("free_bytes_min = 0\nwhen_full = drop_newest"), self.folder)
        self.synced(gateway)
        self.fill()
        self.eventually(lambda: os.strerror(errno.ENOSPC) in (gateway.status()["log"]["error"] or ""), "a full disk")
        self.continues_to_publish(gateway)
        epoch = gateway.status()["epoch"]
        gateway.stop()
        with open(self.folder + "/state") as file:
            published = {each["epoch"]: each["channels"] for each in json.load(file)["epochs"]}[epoch]
        report = self.check_log()
        self.assertTrue(report["epochs"][-1]["stopped"])
        self.assertEqual({each["topic"]: each["last_seq"] for each in report["epochs"][-1]["channels"]}, published)
        self.assertGreater(report["missing_by_reason"]["log_full"], 0)

    def test_a_gateway_that_is_killed_after_it_started_on_a_full_disk_has_its_samples_named(self):
        self.log.mkdir()
        self.mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", str(self.log))
        text = settings("free_bytes_min = 0\nwhen_full = drop_newest")
        gateway = self.start(text, self.folder)
        marks = [self.log / name for name in ("mark0", "mark1")]
        self.eventually(lambda: self.is_written(gateway) and all(mark.exists() for mark in marks), "the log is written")
        gateway.close()
        self.fill()
        gateway = self.start(text, self.folder)
        self.eventually(lambda: os.strerror(errno.ENOSPC) in (gateway.status()["log"]["error"] or ""), "a full disk")
        epoch = gateway.status()["epoch"]
        latest = gateway.json("/samples/latest")["samples"]
        since = time.time_ns()
        self.eventually(lambda: all(mark.stat().st_mtime_ns > since for mark in marks), "two marks")
        gateway.close()
        (self.log / "other").unlink()
        self.start(text, self.folder).stop()
        found = {each["topic"]: each["last_seq"] for logged in self.check_log()["epochs"] if logged["epoch_ms"] == epoch
                 for each in logged["channels"]}
        self.assertTrue(latest)
        for each in latest:
            self.assertGreaterEqual(found[each["device"] + "/" + each["channel"]], each["seq"])

    def test_a_disk_that_is_smaller_than_a_segment_has_the_newest_samples(self):
        self.log.mkdir()
        self.mount("-t", "tmpfs", "-o", "size=120k", "tmpfs", str(self.log))
        gateway = self.start(settings("free_bytes_min = 0"), self.folder)
        self.eventually(lambda: gateway.status()["log"]["segments_removed"] > 1, "removed segments",
                        lambda: gateway.status()["log"])
        self.eventually(lambda: self.is_written(gateway), "the log is written", lambda: gateway.status()["log"])
        gateway.stop()
        self.check_log(allowed=("retention",))

    def test_a_log_removes_its_oldest_segments_on_a_full_disk(self):
        self.log.mkdir()
        self.mount("-t", "tmpfs", "-o", "size=320k", "tmpfs", str(self.log))
        gateway = self.start(settings("free_bytes_min = 0\nbytes_max = 1MiB"), self.folder)
        self.eventually(lambda: gateway.status()["log"]["segments_removed"] > 0, "a removed segment",
                        lambda: gateway.status()["log"])
        gateway.stop()
        self.check_log(allowed=("retention",))

    def test_a_log_on_a_disk_mounted_read_only_is_opened_when_the_disk_is_mounted_again(self):
        self.log.mkdir()
        self.mount("-t", "tmpfs", "-o", "size=4m,ro", "tmpfs", str(self.log))
        gateway = self.start(settings("free_bytes_min = 0"), self.folder)
        self.continues_to_publish(gateway)
        self.assertIn(os.strerror(errno.EROFS), gateway.status()["log"]["error"])
        subprocess.run(["mount", "-o", "remount,rw", self.log], check=True)
        self.eventually(lambda: self.is_written(gateway), "the log is written", lambda: gateway.status()["log"])
        gateway.stop()
        self.check_log()

    def test_a_disk_that_is_unmounted_is_noticed(self):
        self.log.mkdir()
        self.mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", str(self.log))
        gateway = self.start(settings("free_bytes_min = 0"), self.folder)
        self.eventually(lambda: self.is_written(gateway), "the log is written")
        self.mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", str(self.log))  # on top of it
        self.eventually(lambda: list(self.log.glob("*.tgl")) and self.is_written(gateway), "the log is written again",
                        lambda: gateway.status()["log"])
        gateway.stop()
        self.check_log()


class Directories(DurableLogTest):
    """A gateway starts with whatever its directory contains."""

    def run_once(self, log=""):
        """Returns the status of the log of a gateway that was started, and stopped after it had logged samples."""
        gateway = self.start(settings(log), self.folder)
        self.eventually(lambda: self.is_written(gateway), "the log is written", lambda: gateway.status()["log"])
        samples = SyncedSamples(gateway)
        self.eventually(lambda: samples.look() and samples.synced, "synced samples")
        self.note_synced(samples)
        log = gateway.status()["log"]
        gateway.stop()
        return log

    def segments(self):
        return sorted(self.log.glob("*.tgl"))

    def test_a_copy_of_a_log_in_use_is_a_log(self):
        gateway = self.start(settings(), self.folder)
        samples = SyncedSamples(gateway)
        self.eventually(lambda: samples.look() and samples.synced, "synced samples")
        self.note_synced(samples)
        copy = self.copy()
        self.check_log(copy)
        gateway.stop()
        gateway = self.start(settings(path=str(copy)), self.scratch())
        self.eventually(lambda: self.is_written(gateway), "the copy is written", lambda: gateway.status()["log"])
        gateway.stop()
        self.assertEqual(len(self.check_log(copy)["epochs"]), 2)

    def test_removed_segments_are_named(self):
        for _ in range(4):
            self.run_once()
        self.assertEqual(len(self.segments()), 4)
        for index in (1, 0):
            self.segments()[index].unlink()
            self.run_once()
            self.check_log(allowed=("retention", "damaged"))

    def test_anything_with_the_name_of_a_segment_is_renamed_or_left_out(self):
        self.run_once()
        names = [f"{number:020}.tgl" for number in range(100, 107)]
        (self.log / names[0]).mkdir()
        (self.log / names[1]).symlink_to("/dev/zero")
        (self.log / names[2]).symlink_to(self.segments()[0])
        os.mkfifo(self.log / names[3])
        (self.log / names[4]).touch()
        (self.log / names[5]).write_bytes(b"\0" * 100_000)
        (self.log / names[6]).write_bytes(self.segments()[0].read_bytes())
        log = self.run_once()
        self.assertIsNone(log["error"])
        self.check_log()

    def test_no_damage_keeps_a_gateway_from_starting(self):
        self.run_once()
        choices = random.Random(7)
        for _ in range(6):
            for path in self.segments():
                content = bytearray(path.read_bytes())
                for _ in range(choices.randint(1, 8)):
                    content[choices.randrange(len(content))] ^= 1 << choices.randrange(8)
                path.write_bytes(content[:choices.randint(0, len(content))] if choices.random() < 0.3 else content)
            self.known = {}
            self.run_once()
            self.check_log(allowed=("damaged",))



if __name__ == "__main__":
    main()
