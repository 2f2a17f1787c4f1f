#!/usr/bin/env python3
"""Compares the instructions per message and per payload, counted by callgrind, with the figures in instructions.txt, to
find performance regressions without a clock. Takes half a minute. Needs the release build and valgrind.

The figures depend on the compiler, its flags and the C library. If one of these or the code has changed, review the
difference and record the new figures."""

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
# A fan-out counts per published message, so `send` shows the cost of more subscribers for the caller.
PATTERNS = {"pubsub": ("--pattern", "pubsub"), "router": ("--pattern", "router"),
            "fanout": ("--pattern", "pubsub", "--subscribers", "8")}
CELLS = (("pubsub", "tcp"), ("pubsub", "inproc"), ("router", "tcp"), ("router", "inproc"), ("fanout", "tcp"))
# Encodes one sample, a number such as 12.5, into one payload.
CELLS += tuple(("codec", name) for name in ("json", "cbor", "record"))
# The counted work, and the function of perf_tool in which callgrind counts it. The rest of `all` is flush(), which writes
# the sent messages.
COUNTS = {"all": None, "send": "*send_all*", "receive": "*receive_all*"}
SIZE, BATCH = 64, 64
# The cost of a message is the difference between two runs, so start-up and shutdown cancel out.
FEW, MANY = 2_000, 22_000
TOLERANCE_PERCENT = 5

# The C library selects its copy functions by processor; this selects those that every x86-64 processor supports.
# Valgrind counts "rep movsb" as one instruction per byte.
PROCESSOR_FEATURES = ("AVX", "AVX2", "AVX512F", "AVX512VL", "AVX512BW", "BMI1", "BMI2", "ERMS", "FSRM", "FMA", "LZCNT",
                      "MOVBE", "POPCNT", "RTM", "SSE4_1", "SSE4_2", "SSSE3", "XSAVE", "XSAVEC",
                      "AVX_Fast_Unaligned_Load", "Prefer_ERMS", "Prefer_FSRM", "Fast_Unaligned_Copy")
GLIBC_TUNABLES = ":".join(("glibc.cpu.hwcaps=" + ",".join("-" + feature for feature in PROCESSOR_FEATURES),
                           "glibc.cpu.x86_rep_movsb_threshold=1073741824",
                           "glibc.cpu.x86_non_temporal_threshold=268435456"))

EXIT_DEARER, EXIT_NO_INPUT, EXIT_NO_VALGRIND = 1, 66, 69


def work(cell, messages):
    """Returns the command and options for perf_tool."""
    name, how = cell
    if name == "codec":
        return ["codec", "--format", how, "--value", "few", "--samples", str(messages)]
    return ["monitor", *PATTERNS[name], "--transport", how, "--size", str(SIZE), "--batch", str(BATCH),
            "--monitor", "off", "--messages", str(messages)]


def counts_of(cell):
    """Returns the counts of a cell. Payloads of the codec are only encoded, not sent or received."""
    return [(what, function) for what, function in COUNTS.items() if function is None or cell[0] != "codec"]


class Failure(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Counter:
    def __init__(self, perf_tool):
        self.valgrind = shutil.which("valgrind")
        if self.valgrind is None:
            raise Failure(EXIT_NO_VALGRIND, "needs valgrind: run tools/install_deps.sh --ci")
        self.perf_tool = Path(perf_tool).resolve()
        if not os.access(self.perf_tool, os.X_OK):
            raise Failure(EXIT_NO_INPUT, f"cannot execute {self.perf_tool}: build the release first")
        self.build = "unknown"

    def run(self, cell, function, messages):
        """Returns the instructions of a whole run, which does not inherit the environment or the working directory."""
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
            raise Failure(EXIT_NO_INPUT, f"{' over '.join(cell)}: no instructions were counted in {function or 'all'}")
        return (many - few) / (MANY - FEW)


def measure(counter):
    return {(*cell, what): counter.per_message(cell, function)
            for cell in CELLS for what, function in counts_of(cell)}


def write(path, build, figures):
    lines = ["# Instructions per message: tools/check_instructions.py --record writes this file.", f"# {build}"]
    lines += [f"{pattern} {transport} {what} {count:.2f}" for (pattern, transport, what), count in figures.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(path):
    """Returns the recorded build and figures."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise Failure(EXIT_NO_INPUT, f"no figures are recorded in {path}: run with --record") from None
    comments = [line[1:].strip() for line in lines if line.startswith("#")]
    figures = {}
    for line in lines:
        if not line.startswith("#") and line.strip():
            words = line.split()
            try:
                figures[tuple(words[:3])] = float(words[3])
            except (IndexError, ValueError):
                raise Failure(EXIT_NO_INPUT, f"{path}: invalid figure: {line}") from None
    return comments[-1] if comments else "", figures


def compare(figures, recorded):
    """Prints each figure. Returns the names of those that increased and decreased by more than the tolerance."""
    dearer, cheaper = [], []
    for key, count in figures.items():
        if key not in recorded:
            raise Failure(EXIT_NO_INPUT, f"no figure is recorded for {' '.join(key)}: run with --record")
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
        print(f"The recorded figures are from another build: {build}. This build: {counter.build}.")
    if cheaper:
        print(f"Decreased by more than {TOLERANCE_PERCENT} %: {', '.join(cheaper)}. "
              f"Record the new figures: {sys.argv[0]} --record")
    if dearer:
        raise Failure(EXIT_DEARER, f"increased by more than {TOLERANCE_PERCENT} %: {', '.join(dearer)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help="record the figures instead of comparing them")
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
