#!/usr/bin/env python3
"""Compiles public headers and the sources of core, to check that each includes what it needs. Batches of a build hide
missing includes, and other projects compile core without batches.

To save time, one compilation checks several files: each of them includes all files before it, directly or not, so those
cannot hide a missing include. Headers of other projects are precompiled and thus visible to all files;
house_rules_test.py checks that each file includes those that it uses. Needs clang++.
"""

import concurrent.futures
import functools
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import rules

ROOT = Path(__file__).resolve().parents[2]
PRECOMPILED = (*rules.STANDARD_HEADERS, "boost/asio/basic_waitable_timer.hpp", "boost/asio/executor_work_guard.hpp",
               "boost/asio/io_context.hpp", "boost/asio/post.hpp", "boost/asio/posix/basic_stream_descriptor.hpp",
               "boost/asio/steady_timer.hpp")
COMPILER = ["clang++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-DBOOST_ERROR_CODE_HEADER_ONLY",
            "-DBOOST_ASIO_NO_DEPRECATED",
            *(f'-DTELEGATE_{fact}=""' for fact in ("VERSION", "BUILD_TYPE", "BUILD", "FLAGS", "SOURCE_DIR", "CONFIG_FOLDER")),
            *(f"-I{ROOT / folder}" for folder in rules.INCLUDE_FOLDERS)]


@functools.cache
def included_by(file):
    """Returns the files of this project that `file` includes, directly or not."""
    found = set()
    for name in re.findall(r'^#include "(.+)"', file.read_text(), re.M):
        places = (folder / name for folder in (file.parent, *(ROOT / each for each in rules.INCLUDE_FOLDERS)))
        header = next((place.resolve() for place in places if place.exists()), None)
        if header is not None:
            found |= {header} | included_by(header)
    return found


def chains_of(files):
    """Returns lists of files that contain each file once; in a list, each file includes all files before it. There are
    as few lists as possible: `followers` is a maximum matching, found with augmenting paths."""
    followers = {}

    def place(file, tried):
        for header in included_by(file) & set(files) - tried:
            tried.add(header)
            if header not in followers or place(followers[header], tried):
                followers[header] = file
                return True
        return False

    for file in files:
        place(file, set())
    chains = []
    for file in files:
        if file not in followers.values():
            chain = [file]
            while chain[-1] in followers:
                chain.append(followers[chain[-1]])
            chains.append(chain)
    return chains


def main():
    files = [header for room in rules.ROOMS for header in sorted((ROOT / room / "include").rglob("*.hpp"))]
    files += sorted((ROOT / "core").rglob("*.cpp"))
    with tempfile.TemporaryDirectory() as scratch:
        precompiled = Path(scratch) / "precompiled.pch"
        subprocess.run([*COMPILER, "-fpch-instantiate-templates", "-x", "c++-header", "-", "-o", precompiled],
                       input="".join(f"#include <{name}>\n" for name in PRECOMPILED), text=True, check=True)

        def errors_of(chain):
            command = [*COMPILER, "-include-pch", precompiled, "-fsyntax-only", "-x", "c++", "-"]
            source = "".join(f'#include "{file}"\n' for file in chain)
            done = subprocess.run(command, input=source, text=True, capture_output=True)
            return done.stderr or done.returncode and f"{source}: clang++ exited with {done.returncode}"
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            errors = [text for text in pool.map(errors_of, chains_of(files)) if text]
    print(*errors, f"{len(files)} files checked, {len(errors)} compilations with errors", sep="\n")
    sys.exit(1 if errors or not files else 0)


if __name__ == "__main__":
    main()
