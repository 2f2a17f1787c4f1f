#!/usr/bin/env python3
"""tools/perf_tool/plot.py draws the results of perf_tool."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

try:
    import matplotlib  # noqa: F401
except ImportError:
    print("python3-matplotlib is not installed")
    sys.exit(77)

PLOT = Path(os.environ["TELEGATE_SOURCE_DIR"]) / "tools/perf_tool/plot.py"
PERF_TOOL = os.environ["TELEGATE_PERF_TOOL"]


class PlotTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def measure(self, *options):
        path = self.folder / "result.json"
        subprocess.run([PERF_TOOL, *options, "--runs", "1", "--json", path], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        return path

    def draw(self, path):
        picture = self.folder / "picture.svg"
        run = subprocess.run([sys.executable, "-B", PLOT, path, picture], capture_output=True, text=True, check=False)
        if run.returncode == 0:
            self.assertTrue(xml.etree.ElementTree.parse(picture).getroot().tag.endswith("svg"))
        return run

    def test_a_report_is_drawn(self):
        run = self.draw(self.measure("codec", "--samples", "2000"))
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_comparisons_are_drawn_as_ratios(self):
        path = self.measure("transport", "--transport", "tcp", "--size", "64", "--messages", "1000")
        run = self.draw(path)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue(any("Telegate is better" in table["title"]
                            for table in json.loads(path.read_text(encoding="utf-8"))["tables"]))

    def test_a_report_without_figures_is_reported_as_having_nothing_to_draw(self):
        path = self.folder / "empty.json"
        path.write_text('{"command": "queue", "tables": [], "surroundings": {}, "parameters": {}}', encoding="utf-8")
        run = self.draw(path)
        self.assertEqual(run.returncode, 1)
        self.assertIn("nothing to draw", run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
