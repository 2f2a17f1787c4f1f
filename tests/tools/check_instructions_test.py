#!/usr/bin/env python3
"""tools/check_instructions.py with a valgrind that counts what the test says."""

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

# Counts `all`, `send` or `receive` instructions for each message, and 1,000,000 for start and end; leaves its
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

    def test_what_was_recorded_is_found_again(self):
        self.record()
        lines = self.figures.read_text(encoding="utf-8").splitlines()
        self.assertEqual(lines[1:], ["# C; Release; -O3"] + [f"{cell} {what}" for cell in CELLS
                                                            for what in ("all 200.00", "send 60.00",
                                                                         "receive 120.00")] +
                         [f"{cell} all 200.00" for cell in CODEC_CELLS])
        result = self.check()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.count("+0.00 %"), 18)

    def test_more_than_five_percent_dearer_fails_and_names_what(self):
        self.record()
        self.set_counts(211, 60, 120)
        result = self.check()
        self.assertEqual(result.returncode, 1)
        self.assertIn("more than 5 % dearer: pubsub tcp all, pubsub inproc all, router tcp all", result.stderr)
        self.assertNotIn("send", result.stderr)
        self.assertNotIn("receive", result.stderr)

    def test_a_dearer_call_fails_though_the_sum_does_not(self):
        self.record()
        for counts, what in (((204, 64, 120), "send"), ((208, 60, 127), "receive")):
            self.set_counts(*counts)
            result = self.check()
            self.assertEqual(result.returncode, 1)
            self.assertIn("dearer: " + ", ".join(f"{cell} {what}" for cell in CELLS), result.stderr)

    def test_a_fan_out_has_eight_subscribers_and_nothing_else_has(self):
        self.record()
        runs = [line for line in self.log.read_text(encoding="utf-8").splitlines() if line.startswith("arguments: ")]
        self.assertEqual(sum("--pattern pubsub --subscribers 8 --transport tcp" in run for run in runs), 6)
        self.assertEqual(sum("--subscribers" in run for run in runs), 6)

    def test_five_percent_are_tolerated(self):
        self.record()
        for counts in ((209, 62, 125), (191, 58, 115)):
            self.set_counts(*counts)
            result = self.check()
            self.assertEqual((result.returncode, "Record" in result.stdout), (0, False))

    def test_more_than_five_percent_cheaper_asks_to_record_it(self):
        self.record()
        self.set_counts(180, 60, 120)
        result = self.check()
        self.assertEqual(result.returncode, 0)
        self.assertIn("cheaper: pubsub tcp all", result.stdout)
        self.assertIn("Record it: ", result.stdout)

    def test_another_build_is_told_where_the_figures_differ(self):
        self.record()
        self.set_counts(250, 60, 120, build="Debug")
        self.assertIn("The figures are of another build: C; Release; -O3; this one is C; Debug; -O3.",
                      self.check().stdout)

    def test_nothing_of_the_environment_reaches_what_is_counted(self):
        os.environ["VALGRIND_OPTS"] = "--quiet"
        self.addCleanup(os.environ.pop, "VALGRIND_OPTS")
        self.record()
        log = self.log.read_text(encoding="utf-8")
        self.assertNotIn("VALGRIND_OPTS", log)
        self.assertIn("glibc.cpu.hwcaps=-AVX", log)

    def test_no_valgrind_is_said(self):
        result = self.check(path="/nonexistent")
        self.assertEqual(result.returncode, 69)
        self.assertIn("needs valgrind: tools/install_deps.sh --ci installs it", result.stderr)

    def test_no_program_is_said(self):
        result = self.check(perf_tool=str(self.folder / "none"))
        self.assertEqual(result.returncode, 66)
        self.assertIn("no program at", result.stderr)

    def test_no_figures_are_said_before_anything_is_counted(self):
        result = self.check()
        self.assertEqual(result.returncode, 66)
        self.assertIn("run with --record", result.stderr)
        self.assertFalse(self.log.exists())

    def test_a_missing_or_broken_figure_is_said(self):
        self.record()
        lines = self.figures.read_text(encoding="utf-8").splitlines()
        for changed, complaint in ((lines[:-1], "nothing is recorded for codec record all"),
                                   (lines[:-1] + ["codec record all many"], "not a figure: codec record all many")):
            self.figures.write_text("\n".join(changed), encoding="utf-8")
            result = self.check()
            self.assertEqual(result.returncode, 66)
            self.assertIn(complaint, result.stderr)

    def test_a_run_that_fails_is_shown(self):
        self.set_counts(200, 60, 120, code=70)
        result = self.check("--record")
        self.assertEqual(result.returncode, 66)
        self.assertIn("pubsub over tcp failed", result.stderr)
        self.assertFalse(self.figures.exists())

    def test_a_function_that_is_not_there_is_no_figure(self):
        for counts, function in (((200, 0, 120), "*send_all*"), ((200, 60, 0), "*receive_all*")):
            self.set_counts(*counts)
            result = self.check("--record")
            self.assertEqual(result.returncode, 66)
            self.assertIn(f"nothing was counted in {function}", result.stderr)


if __name__ == "__main__":
    unittest.main()
