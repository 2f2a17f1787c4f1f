"""gateway_log on a directory with a log, as a program."""

import csv
import fcntl
import json
import os
import shutil
import subprocess
import unittest

from log_fixture import EPOCHS, GAP_SAMPLES, LOG, TOPICS, LogTest, expected_seqs, expected_value

READINGS = 3_000


class Commands(LogTest):
    def setUp(self):
        super().setUp()
        self.make(READINGS)

    def segments(self):
        return sorted(self.log.glob("*.tgl"))

    def test_list_has_each_segment(self):
        rows = [json.loads(line) for line in self.run_log("list", "--json").splitlines()]
        self.assertEqual([row["name"] for row in rows], [path.name for path in self.segments()])
        self.assertEqual([row["bytes"] for row in rows], [path.stat().st_size for path in self.segments()])
        self.assertEqual(rows[-1]["state"], "open")
        self.assertEqual({row["state"] for row in rows[:-1]}, {"sealed"})
        self.assertEqual(sum(row["samples"] for row in rows), 2 * len(TOPICS) * (READINGS - GAP_SAMPLES))
        self.assertEqual(len(self.run_log("list").splitlines()), len(rows) + 1)

    def test_verify_proves_that_the_log_is_complete(self):
        report = json.loads(self.run_log("verify", "--json"))
        self.assertTrue(report["complete"])
        self.assertEqual([epoch["epoch_ms"] for epoch in report["epochs"]], list(EPOCHS))
        self.assertEqual([epoch["stopped"] for epoch in report["epochs"]], [True, False])
        for epoch in report["epochs"]:
            self.assertEqual([channel["topic"] for channel in epoch["channels"]], sorted(TOPICS))
            for channel in epoch["channels"]:
                self.assertEqual(channel["last_seq"], READINGS)
                self.assertEqual(channel["missing"], [{"first_seq": READINGS // 2, "last_seq": READINGS // 2 + 9,
                                                       "reason": "queue_overflow"}])
        self.assertEqual(self.run_log("verify").splitlines()[-1],
                         "log complete: 29,900 samples and 10 explained gaps in 2 epochs")

    def test_an_export_as_csv_has_every_sample(self):
        with open(self.export("csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        found = {(int(row["epoch_ms"]), row["topic"], int(row["seq"])): row for row in rows}
        self.assertEqual(set(found), {(epoch, topic, seq) for epoch in EPOCHS for topic in TOPICS
                                      for seq in expected_seqs(READINGS)})
        self.assertEqual(len(rows), len(found))
        for (epoch, topic, seq), row in found.items():
            value = expected_value(topic, seq)
            self.assertEqual(row["value"], {bool: str(value).lower(), type(None): ""}.get(type(value), str(value).removesuffix(".0")))
            self.assertEqual(int(row["time_utc_ns"]), epoch * 1_000_000 + seq * 1_000_000 + 7)
            self.assertEqual(row["quality"], "bad" if value is None else "good")
            self.assertEqual(row["unit"], "Cel" if topic == "maker/real" else "")

    def test_an_export_as_json_has_every_sample(self):
        rows = [json.loads(line) for line in self.export("json").read_text(encoding="utf-8").splitlines()]
        self.assertEqual([(row["epoch_ms"], row["seq"]) for row in rows if row["topic"] == "maker/text"],
                         [(epoch, seq) for epoch in EPOCHS for seq in expected_seqs(READINGS)])
        for row in rows:
            self.assertEqual(row["value"], expected_value(row["topic"], row["seq"]))

    def test_an_incomplete_export_leaves_no_file(self):
        done = self.start("export", "--format", "csv", "--output", "/dev/full")
        self.assertEqual(done.returncode, 74)
        self.assertIn("No space left on device", done.stderr)
        done = self.start("export", "--format", "csv", "--output", self.scratch / "none/x")
        self.assertEqual(done.returncode, 73)
        self.assertEqual(sorted(path.name for path in self.scratch.iterdir()), ["log"])

    def test_a_query_aggregates_a_channel(self):
        rows = [json.loads(line) for line in self.run_log("query", "maker/real", "--interval", "1s", "--json").splitlines()]
        self.assertEqual(sum(row["count"] for row in rows), 2 * (READINGS - GAP_SAMPLES))
        self.assertEqual((rows[0]["min"], rows[0]["max"]), (0.125, 999 / 8))

    def test_dump_prints_samples_and_gaps(self):
        lines = self.run_log("dump", "--channel", "maker/r*").splitlines()
        self.assertEqual(len(lines), 2 * (READINGS - GAP_SAMPLES) + 2 + 3)
        self.assertEqual(sum(line.startswith("gap ") for line in lines), 2)

    def test_a_closed_output_is_reported(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([LOG, "dump", self.log], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (74, "gateway_log: cannot write the output\n"))

    def test_damage_is_explained_and_repaired(self):
        first = self.segments()[0]
        first.write_bytes(b"\0" * first.stat().st_size)
        self.assertIn(f"damaged file {first.name}: ", self.run_log("verify"))
        self.assertIn(f"renamed {first.name}", self.run_log("repair"))
        self.assertTrue((self.log / (first.name + ".damaged")).exists())
        self.assertEqual(self.run_log("repair"), "nothing to repair\n")
        self.assertTrue(json.loads(self.run_log("verify", "--json"))["complete"])

    def test_a_log_in_use_is_not_repaired(self):
        with open(self.log / "lock", "r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = self.start("repair")
            self.assertEqual(done.returncode, 75)
            self.assertIn("a gateway is using the log", done.stderr)
            self.run_log("verify")
        self.assertIn("sealed", self.run_log("repair"))

    def test_a_log_can_be_read_without_being_writable(self):
        shutil.copytree(self.log, self.scratch / "copy")
        for path in (self.scratch / "copy").iterdir():
            path.chmod(0o400)
        (self.scratch / "copy").chmod(0o500)
        self.addCleanup((self.scratch / "copy").chmod, 0o700)
        whole = self.run_log("verify")
        self.log = self.scratch / "copy"
        self.assertEqual(self.run_log("verify"), whole)


class WithoutLog(LogTest):
    def test_a_missing_directory_is_reported(self):
        done = self.start("verify")
        self.assertEqual(done.returncode, 66)
        self.assertEqual(done.stderr, f"gateway_log: cannot read the directory {self.log}: No such file or directory\n")

    def test_a_log_without_segments_is_complete(self):
        self.log.mkdir()
        (self.log / "lock").touch()
        self.assertEqual(self.run_log("verify"), "log complete: 0 samples and 0 explained gaps in 0 epochs\n")
        self.assertEqual(json.loads(self.run_log("verify", "--json"))["epochs"], [])
        self.assertEqual(self.run_log("repair"), "nothing to repair\n")

    def test_files_without_permission_are_reported(self):
        if os.geteuid() == 0:
            self.skipTest("root may read every file")
        self.make(10)
        next(self.log.glob("*.tgl")).chmod(0)
        self.assertEqual(self.start("verify").returncode, 77)


if __name__ == "__main__":
    unittest.main(verbosity=2)
