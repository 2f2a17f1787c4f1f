#!/usr/bin/env python3
"""Shows that the random test of the ledger can fail: breaks one count at a time, builds test_gateway and runs the test,
which must fail each time. Run by hand; it changes source files and restores them.

tests/chaos/broken_ledger.py [--build build_debug]
"""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEST = "the ledger balances in every snapshot*"
TIMEOUT_S = 300

# Each entry: the defect, the file, the original text, and its replacement.
BREAKAGES = (
    ("samples of one batch in a hundred are sampled but not counted", "core/src/ledger/ledger.cpp",
     "    page.counters.add(page.base + cell_sampled, samples.size());\n",
     "    static int batches = 0;\n"
     "    page.counters.add(page.base + cell_sampled, ++batches % 100 == 0 ? 0 : samples.size());\n"),
    ("losses of the queue are counted twice for the channel", "core/src/ledger/ledger.cpp",
     "    blocks_.of(sample.channel).dropped_at_queue[Blocks::slot(sample.channel)][index].add(sample);\n",
     "    blocks_.of(sample.channel).dropped_at_queue[Blocks::slot(sample.channel)][index].add(sample);\n"
     "    blocks_.of(sample.channel).dropped_at_queue[Blocks::slot(sample.channel)][index].add(sample);\n"),
    ("one batch in a hundred is published but not counted as taken", "gateway/src/line/pump.cpp",
     "    parts_.ledger.taken(taken_, taken_);",
     "    static int batches = 0;\n"
     "    if (++batches % 100 != 0) parts_.ledger.taken(taken_, taken_);"),
)


def run(*command, **options):
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def finds(build, path, text, broken):
    """Returns whether the test fails with the broken text."""
    source = ROOT / path
    original = source.read_text()
    if original.count(text) != 1:
        sys.exit(f"{path}: expected the text to break once, but found it {original.count(text)} times:\n{text}")
    try:
        source.write_text(original.replace(text, broken))
        built = run("cmake", "--build", build, "--target", "test_gateway")
        if built.returncode != 0:
            sys.exit(built.stdout)
        return run(f"{build}/tests/test_gateway", TEST, timeout=TIMEOUT_S).returncode != 0
    finally:
        source.write_text(original)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build_debug", help="a configured build directory")
    build = parser.parse_args().build
    missed = 0
    for what, path, text, broken in BREAKAGES:
        found = finds(build, path, text, broken)
        missed += not found
        print(f"{'found' if found else 'MISSED'}: {what}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
