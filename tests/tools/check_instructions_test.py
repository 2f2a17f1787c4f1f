#!/usr/bin/env python3
"""Tests tools/check_instructions.py with a fake valgrind that returns the counts chosen by the test."""

import os
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools/check_instructions.py"
CELLS = [f"{pattern} {transport}" for pattern in ("pubsub", "router") for transport in ("tcp", "inproc")] + [
    "fanout tcp"]
CODEC_CELLS = [f"codec {name}" for name in ("json", "cbor", "record")]

# Reports `all`, `send` or `receive` instructions per message plus 1,000,000 for start-up and shutdown; records its
# environment and its arguments in a file.
VALGRIND = """#!/bin/sh
export -p >> {log}
echo "arguments: $*" >> {log}
per_message={all}
for word; do
  case $word in
    --toggle-collect=*send_all*) per_message={send} ;;
    --toggle-collect=*receive_all*) per_message={receive} ;;
  esac
  case $before in --messages | --samples) count=$word ;; esac
  before=$word
done
echo '{{"surroundings": {{"compiler": "C", "build": "{build}", "flags": "-O3"}}}}'
echo "==1== Collected : $((1000000 + per_message * count))" >&2
exit {code}
"""


class Guard(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = Path(self.scratch.name)
        self.figures = self.folder / "figures.txt"
        self.log = self.folder / "log"
        self.set_counts(200, 60, 120)

    def make_program(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def set_counts(self, for_all, for_send, for_receive, build="Release", code=0):
        self.make_program("valgrind", VALGRIND.format(log=self.log, all=for_all, send=for_send, receive=for_receive,
                                                      build=build, code=code))

    def check(self, *arguments, path=None, perf_tool="/bin/true"):
        return subprocess.run(
            [sys.executable, "-B", SCRIPT, "--perf-tool", perf_tool, "--figures", self.figures, *arguments],
            env={**os.environ, "PATH": str(self.folder) if path is None else path}, capture_output=True, text=True,
            check=False)

    def record(self):
        self.assertEqual(self.check("--record").returncode, 0)

    def test_recorded_figures_match_an_unchanged_program(self):
        self.record()
        lines = self.figures.read_text(encoding="utf-8").splitlines()
        self.assertEqual(lines[1:], ["# C; Release; -O3"] + [f"{cell} {what}" for cell in CELLS
                                                            for what in ("all 200.00", "send 60.00",
                                                                         "receive 120.00")] +
                         [f"{cell} all 200.00" for cell in CODEC_CELLS])
        result = self.check()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.count("+0.00 %"), 18)

    def test_an_increase_above_five_percent_fails_and_is_named(self):
        self.record()
        self.set_counts(211, 60, 120)
        result = self.check()
        self.assertEqual(result.returncode, 1)
        self.assertIn("increased by more than 5 %: pubsub tcp all, pubsub inproc all, router tcp all", result.stderr)
        self.assertNotIn("send", result.stderr)
        self.assertNotIn("receive", result.stderr)

    def test_an_increase_of_one_function_fails_though_the_total_does_not_increase(self):
        self.record()
        for counts, what in (((204, 64, 120), "send"), ((208, 60, 127), "receive")):
            self.set_counts(*counts)
            result = self.check()
            self.assertEqual(result.returncode, 1)
            self.assertIn("increased by more than 5 %: " + ", ".join(f"{cell} {what}" for cell in CELLS), result.stderr)

    def test_only_the_fan_out_has_eight_subscribers(self):
        self.record()
        runs = [line for line in self.log.read_text(encoding="utf-8").splitlines() if line.startswith("arguments: ")]
        self.assertEqual(sum("--pattern pubsub --subscribers 8 --transport tcp" in run for run in runs), 6)
        self.assertEqual(sum("--subscribers" in run for run in runs), 6)

    def test_an_increase_of_five_percent_is_tolerated(self):
        self.record()
        for counts in ((209, 62, 125), (191, 58, 115)):
            self.set_counts(*counts)
            result = self.check()
            self.assertEqual((result.returncode, "Record" in result.stdout), (0, False))

    def test_a_decrease_above_five_percent_is_reported_to_be_recorded(self):
        self.record()
        self.set_counts(180, 60, 120)
        result = self.check()
        self.assertEqual(result.returncode, 0)
        self.assertIn("Decreased by more than 5 %: pubsub tcp all", result.stdout)
        self.assertIn("Record the new figures: ", result.stdout)

    def test_another_build_is_reported_if_the_figures_differ(self):
        self.record()
        self.set_counts(250, 60, 120, build="Debug")
        self.assertIn("The recorded figures are from another build: C; Release; -O3. This build: C; Debug; -O3.",
                      self.check().stdout)

    def test_the_environment_does_not_reach_the_counted_program(self):
        os.environ["VALGRIND_OPTS"] = "--quiet"
        self.addCleanup(os.environ.pop, "VALGRIND_OPTS")
        self.record()
        log = self.log.read_text(encoding="utf-8")
        self.assertNotIn("VALGRIND_OPTS", log)
        self.assertIn("glibc.cpu.hwcaps=-AVX", log)

    def test_a_missing_valgrind_is_reported(self):
        result = self.check(path="/nonexistent")
        self.assertEqual(result.returncode, 69)
        self.assertIn("needs valgrind: run tools/install_deps.sh --ci", result.stderr)

    def test_a_missing_program_is_reported(self):
        result = self.check(perf_tool=str(self.folder / "none"))
        self.assertEqual(result.returncode, 66)
        self.assertIn("cannot execute", result.stderr)

    def test_missing_figures_are_reported_before_counting(self):
        result = self.check()
        self.assertEqual(result.returncode, 66)
        self.assertIn("run with --record", result.stderr)
        self.assertFalse(self.log.exists())

    def test_missing_and_invalid_figures_are_reported(self):
        self.record()
        lines = self.figures.read_text(encoding="utf-8").splitlines()
        for changed, complaint in ((lines[:-1], "no figure is recorded for codec record all"),
                                   (lines[:-1] + ["codec record all many"], "invalid figure: codec record all many")):
            self.figures.write_text("\n".join(changed), encoding="utf-8")
            result = self.check()
            self.assertEqual(result.returncode, 66)
            self.assertIn(complaint, result.stderr)

    def test_the_output_of_a_failed_run_is_shown(self):
        self.set_counts(200, 60, 120, code=70)
        result = self.check("--record")
        self.assertEqual(result.returncode, 66)
        self.assertIn("pubsub over tcp failed", result.stderr)
        self.assertFalse(self.figures.exists())

    def test_a_function_that_is_never_called_is_an_error(self):
        for counts, function in (((200, 0, 120), "*send_all*"), ((200, 60, 0), "*receive_all*")):
            self.set_counts(*counts)
            result = self.check("--record")
            self.assertEqual(result.returncode, 66)
            self.assertIn(f"no instructions were counted in {function}", result.stderr)


if __name__ == "__main__":
    unittest.main()
