"""The systemd units are valid, and the service has no more rights than it needs.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP and the source tree in TELEGATE_SOURCE_DIR.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

UNITS = pathlib.Path(os.environ["TELEGATE_SOURCE_DIR"]) / "packaging" / "systemd"
APP = os.environ["TELEGATE_GATEWAY_APP"]
EXPOSURE_MAX = 2.0

if shutil.which("systemd-analyze") is None:
    print("skipped: no systemd-analyze (Debian package systemd)")
    sys.exit(77)


def analyze(*arguments):
    answer = subprocess.run(["systemd-analyze", "--no-pager", *arguments], capture_output=True, text=True, timeout=60)
    return answer.returncode, answer.stdout + answer.stderr


class TheUnits(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="telegate-test-"))
        self.addCleanup(shutil.rmtree, self.scratch)
        for unit in UNITS.iterdir():
            text = unit.read_text().replace("/usr/bin/gateway_app", APP)  # the path used by the package
            (self.scratch / unit.name).write_text(text)
        self.units = sorted(str(unit) for unit in self.scratch.iterdir())

    def service(self):
        return (UNITS / "telegate.service").read_text()

    def test_systemd_finds_no_fault(self):
        self.assertEqual(len(self.units), 3)
        self.assertEqual(analyze("verify", "--man=no", "--recursive-errors=no", *self.units), (0, ""))

    def test_a_fault_would_be_found(self):
        wrong = self.scratch / "telegate.service"
        wrong.write_text(wrong.read_text().replace("Type=notify", "Type=notified"))
        self.assertNotEqual(analyze("verify", "--man=no", "--recursive-errors=no", str(wrong))[1], "")

    def test_the_exposure_level_is_low(self):
        code, text = analyze("security", "--offline=true", str(self.scratch / "telegate.service"))
        score = re.search(r"Overall exposure level for telegate\.service: ([\d.]+)", text)
        self.assertIsNotNone(score, text)
        self.assertLessEqual(float(score.group(1)), EXPOSURE_MAX, text)
        print("exposure", score.group(1))

    def test_settings_required_by_the_daemon_are_present(self):
        for line in ("Type=notify", "NotifyAccess=main", "Restart=always", "RestartPreventExitStatus=64 66 77 78",
                     "DynamicUser=yes", "ExecReload=/bin/kill -HUP $MAINPID", "RuntimeDirectory=telegate",
                     "ProcSubset=all"):
            self.assertIn("\n" + line + "\n", self.service())
        self.assertRegex(self.service(), r"\nWatchdogSec=\d+\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
