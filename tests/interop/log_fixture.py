"""The program gateway_log and a log with known content, for tests. Run by ctest with TELEGATE_GATEWAY_LOG and
TELEGATE_LOG_MAKER."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

LOG = os.environ["TELEGATE_GATEWAY_LOG"]
MAKER = os.environ["TELEGATE_LOG_MAKER"]
EPOCHS = (1_795_000_000_000, 1_795_100_000_000)
TOPICS = ("maker/real", "maker/integer", "maker/boolean", "maker/text", "maker/failing")
GAP_SAMPLES = 10


def expected_value(topic, seq):
    return {"maker/real": seq / 8, "maker/integer": 9_007_199_254_740_993 + seq, "maker/boolean": seq % 2 == 1,
            "maker/text": f'ä, "{seq}"', "maker/failing": None}[topic]


def expected_seqs(readings):
    gap = range(readings // 2, readings // 2 + GAP_SAMPLES)
    return [seq for seq in range(1, readings + 1) if seq not in gap]


class LogTest(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="telegate-test-"))
        self.addCleanup(shutil.rmtree, self.scratch)
        self.log = self.scratch / "log"

    def make(self, readings):
        subprocess.run([MAKER, self.log, str(readings)], check=True)

    def start(self, command, *arguments, **options):
        return subprocess.run([LOG, command, self.log, *map(str, arguments)], capture_output=True, text=True,
                              encoding="utf-8", check=False, **options)

    def run_log(self, command, *arguments):
        done = self.start(command, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def export(self, file_format, *arguments):
        path = self.scratch / f"export.{file_format}"
        self.run_log("export", "--format", file_format, "--output", path, *arguments)
        return path
