#!/usr/bin/env python3
"""Instructions per message and per payload, counted by callgrind, against the figures in instructions.txt: one that has
become dearer is found without a clock. Takes half a minute. Needs the release build, and valgrind.

Figures belong to a compiler, its flags and a C library; when one of these or the code has changed, look at the
difference, and record."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Of a fan-out everything is per message published, so that `send` shows what more subscribers cost the caller.
PATTERNS = {"pubsub": ("--pattern", "pubsub"), "router": ("--pattern", "router"),
            "fanout": ("--pattern", "pubsub", "--subscribers", "8")}
CELLS = (("pubsub", "tcp"), ("pubsub", "inproc"), ("router", "tcp"), ("router", "inproc"), ("fanout", "tcp"))
# One sample into one payload, of a number like 12.5.
CELLS += tuple(("codec", name) for name in ("json", "cbor", "record"))
# What is counted, and the function that callgrind counts in; perf_tool has it for this. The rest of `all` is flush(),
# which writes what was sent.
COUNTS = {"all": None, "send": "*send_all*", "receive": "*receive_all*"}
SIZE, BATCH = 64, 64
# What more messages cost more is what a message costs, so that start and end do not count.
FEW, MANY = 2_000, 22_000
TOLERANCE_PERCENT = 5

# The C library picks its copies by processor; these are those that every x86-64 has. Valgrind counts "rep movsb" as an
# instruction for each byte.
PROCESSOR_FEATURES = ("AVX", "AVX2", "AVX512F", "AVX512VL", "AVX512BW", "BMI1", "BMI2", "ERMS", "FSRM", "FMA", "LZCNT",
                      "MOVBE", "POPCNT", "RTM", "SSE4_1", "SSE4_2", "SSSE3", "XSAVE", "XSAVEC",
                      "AVX_Fast_Unaligned_Load", "Prefer_ERMS", "Prefer_FSRM", "Fast_Unaligned_Copy")
GLIBC_TUNABLES = ":".join(("glibc.cpu.hwcaps=" + ",".join("-" + feature for feature in PROCESSOR_FEATURES),
                           "glibc.cpu.x86_rep_movsb_threshold=1073741824",
                           "glibc.cpu.x86_non_temporal_threshold=268435456"))

EXIT_DEARER, EXIT_NO_INPUT, EXIT_NO_VALGRIND = 1, 66, 69


def work(cell, messages):
    """What perf_tool is to do: its command and options."""
    name, how = cell
    if name == "codec":
        return ["codec", "--format", how, "--value", "few", "--samples", str(messages)]
    return ["monitor", *PATTERNS[name], "--transport", how, "--size", str(SIZE), "--batch", str(BATCH),
            "--monitor", "off", "--messages", str(messages)]


def counts_of(cell):
    """Nobody sends or receives a payload that is only encoded."""
    return [(what, function) for what, function in COUNTS.items() if function is None or cell[0] != "codec"]


class Failure(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Counter:
    def __init__(self, perf_tool):
        self.valgrind = shutil.which("valgrind")
        if self.valgrind is None:
            raise Failure(EXIT_NO_VALGRIND, "needs valgrind: tools/install_deps.sh --ci installs it")
        self.perf_tool = Path(perf_tool).resolve()
        if not os.access(self.perf_tool, os.X_OK):
            raise Failure(EXIT_NO_INPUT, f"no program at {self.perf_tool}: build the release first")
        self.build = "unknown"

    def run(self, cell, function, messages):
        """Instructions of a whole run. Nothing of the caller's environment or folder reaches it."""
        command = [self.valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        command += [f"--toggle-collect={function}"] if function else []
        command += [self.perf_tool, "--runs", "1", "--json", *work(cell, messages)]
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                                    env={"LC_ALL": "C", "GLIBC_TUNABLES": GLIBC_TUNABLES})
        collected = re.search(r"Collected : (\d+)", result.stderr)
        if result.returncode != 0 or collected is None:
            raise Failure(EXIT_NO_INPUT, f"{' over '.join(cell)} failed:\n{result.stdout}{result.stderr}")
        facts = json.loads(result.stdout)["surroundings"]
        self.build = "; ".join(facts[name] for name in ("compiler", "build", "flags"))
        return int(collected[1])

    def per_message(self, cell, function):
        few, many = (self.run(cell, function, messages) for messages in (FEW, MANY))
        if many <= few:
            raise Failure(EXIT_NO_INPUT, f"{' over '.join(cell)}: nothing was counted in {function or 'all'}")
        return (many - few) / (MANY - FEW)


def measure(counter):
    return {(*cell, what): counter.per_message(cell, function)
            for cell in CELLS for what, function in counts_of(cell)}


def write(path, build, figures):
    lines = ["# Instructions per message: tools/check_instructions.py --record writes this file.", f"# {build}"]
    lines += [f"{pattern} {transport} {what} {count:.2f}" for (pattern, transport, what), count in figures.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(path):
    """The build and the figures that were recorded."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise Failure(EXIT_NO_INPUT, f"nothing is recorded in {path}: run with --record") from None
    comments = [line[1:].strip() for line in lines if line.startswith("#")]
    figures = {}
    for line in lines:
        if not line.startswith("#") and line.strip():
            words = line.split()
            try:
                figures[tuple(words[:3])] = float(words[3])
            except (IndexError, ValueError):
                raise Failure(EXIT_NO_INPUT, f"{path}: not a figure: {line}") from None
    return comments[-1] if comments else "", figures


def compare(figures, recorded):
    """Prints each figure; returns the names of those that are dearer, and of those that are cheaper."""
    dearer, cheaper = [], []
    for key, count in figures.items():
        if key not in recorded:
            raise Failure(EXIT_NO_INPUT, f"nothing is recorded for {' '.join(key)}: run with --record")
        change = 100 * (count / recorded[key] - 1)
        print(f"{key[0]:<7} {key[1]:<7} {key[2]:<7} {count:8.2f}  recorded {recorded[key]:8.2f}  {change:+6.2f} %")
        if change > TOLERANCE_PERCENT:
            dearer.append(" ".join(key))
        elif change < -TOLERANCE_PERCENT:
            cheaper.append(" ".join(key))
    return dearer, cheaper


def check(counter, path):
    build, recorded = read(path)
    dearer, cheaper = compare(measure(counter), recorded)
    if (dearer or cheaper) and build != counter.build:
        print(f"The figures are of another build: {build}; this one is {counter.build}.")
    if cheaper:
        print(f"More than {TOLERANCE_PERCENT} % cheaper: {', '.join(cheaper)}. Record it: {sys.argv[0]} --record")
    if dearer:
        raise Failure(EXIT_DEARER, f"more than {TOLERANCE_PERCENT} % dearer: {', '.join(dearer)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help="write the figures instead of comparing them")
    parser.add_argument("--perf-tool", default=ROOT / "build/tools/perf_tool", metavar="FILE")
    parser.add_argument("--figures", default=ROOT / "tools/instructions.txt", type=Path, metavar="FILE")
    options = parser.parse_args()
    try:
        counter = Counter(options.perf_tool)
        if options.record:
            figures = measure(counter)
            write(options.figures, counter.build, figures)
            print(options.figures.read_text(encoding="utf-8"), end="")
        else:
            check(counter, options.figures)
    except Failure as failure:
        print(f"check_instructions: {failure}", file=sys.stderr)
        return failure.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
