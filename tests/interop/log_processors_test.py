"""Logs of a build for another processor, read by the build for this machine, and the other way around.

Run by ctest with programs of the one build in TELEGATE_WRITE_LOG and TELEGATE_GATEWAY_LOG, and the folder of the other
one, the release build, in TELEGATE_NATIVE_BUILD.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

NATIVE = pathlib.Path(os.environ["TELEGATE_NATIVE_BUILD"])
WRITERS = (os.environ["TELEGATE_WRITE_LOG"], NATIVE / "tests/write_log")
READERS = (os.environ["TELEGATE_GATEWAY_LOG"], NATIVE / "tools/gateway_log")
if not all(os.path.exists(each) for each in WRITERS + READERS):
    print("skipped: no release build for this machine")
    sys.exit(77)


def output(*command):
    return subprocess.run(command, check=True, timeout=60, stdout=subprocess.PIPE).stdout


class LogsOfTwoProcessors(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_have_the_same_bytes(self):
        logs = [self.scratch / name for name in ("this", "native")]
        printed = [output(writer, log) for writer, log in zip(WRITERS, logs)]
        self.assertEqual(printed[0], printed[1])
        files = [{file.name: file.read_bytes() for file in log.iterdir()} for log in logs]
        self.assertEqual(files[0], files[1])

    def test_are_read_as_the_same_samples_and_gaps(self):
        for number, writer in enumerate(WRITERS):
            log = self.scratch / str(number)
            output(writer, log)
            with self.subTest(writer):
                dumps = [output(reader, "dump", log) for reader in READERS]
                self.assertGreater(len(dumps[0].splitlines()), 100)
                self.assertEqual(dumps[0], dumps[1])


if __name__ == "__main__":
    unittest.main(verbosity=2)
