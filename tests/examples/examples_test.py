#!/usr/bin/env python3
"""Runs the examples of core/README.md with each other and as part of another project.

The paths of the programs are in TELEGATE_PUBLISHER_EXAMPLE and TELEGATE_SUBSCRIBER_EXAMPLE.
"""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
README = FOLDER.parents[1] / "core" / "README.md"


class Examples(unittest.TestCase):
    def test_the_subscriber_receives_from_the_publisher(self):
        for endpoint in ("tcp://127.0.0.1:*", "ipc://*"):
            with self.subTest(endpoint), subprocess.Popen(
                    [os.environ["TELEGATE_PUBLISHER_EXAMPLE"], endpoint],
                    stdout=subprocess.PIPE, text=True) as publisher:
                try:
                    bound = publisher.stdout.readline().split()[-1]
                    subscriber = subprocess.run([os.environ["TELEGATE_SUBSCRIBER_EXAMPLE"], bound],
                                                stdout=subprocess.PIPE, text=True, timeout=60, check=True)
                finally:
                    publisher.terminate()
                numbers = [int(number) for number in
                           re.findall(r"^boiler/temperature = (\d+)$", subscriber.stdout, re.M)]
                self.assertGreaterEqual(len(numbers), 10)
                self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))

    def test_the_readme_contains_the_examples(self):
        blocks = re.findall(r"^```cpp\n(.*?)^```$", README.read_text(encoding="utf-8"), re.M | re.S)
        for name in ("publisher_example.cpp", "subscriber_example.cpp"):
            self.assertIn((FOLDER / name).read_text(encoding="utf-8"), blocks, name)

    def test_another_project_can_link_core_only(self):
        with tempfile.TemporaryDirectory() as folder:
            project = Path(folder)
            shown = re.search(r"^```cmake\n(.*?)^```$", README.read_text(encoding="utf-8"), re.M | re.S).group(1)
            lines = shown.splitlines(keepends=True)
            (project / "telegate").symlink_to(FOLDER.parents[1])
            (project / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.25)\nproject(another LANGUAGES CXX)\n" + lines[0] +
                "add_executable(my_program telegate/tests/examples/subscriber_example.cpp)\n" + "".join(lines[1:]),
                encoding="utf-8")
            subprocess.run(["cmake", "-G", "Unix Makefiles", "-S", project, "-B", project / "out"],
                           stdout=subprocess.DEVNULL, timeout=300, check=True)
            targets = subprocess.run(["cmake", "--build", project / "out", "--target", "help"],
                                     stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout
            self.assertIn("telegate_core", targets)
            self.assertNotIn("gateway", targets)


if __name__ == "__main__":
    unittest.main()
