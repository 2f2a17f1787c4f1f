#!/usr/bin/env python3
"""Compiles every header except those of tests, and the sources of core, separately, to check that each includes what it
needs. Batches of a build hide missing includes, and other projects compile core without batches.

Headers of other projects are precompiled and thus visible to all files; house_rules_test.py checks that each file
includes those that it uses. Needs clang++.
"""

import concurrent.futures
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import rules

ROOT = Path(__file__).resolve().parents[2]
PRECOMPILED = (*rules.STANDARD_HEADERS, "boost/asio/basic_waitable_timer.hpp", "boost/asio/executor_work_guard.hpp",
               "boost/asio/io_context.hpp", "boost/asio/post.hpp", "boost/asio/posix/basic_stream_descriptor.hpp",
               "boost/asio/steady_timer.hpp", "httplib.h", "nlohmann/json.hpp", "CLI/CLI.hpp")
COMPILER = ["clang++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-DBOOST_ERROR_CODE_HEADER_ONLY",
            "-DBOOST_ASIO_NO_DEPRECATED",
            *(f'-DTELEGATE_{fact}=""' for fact in ("VERSION", "BUILD_TYPE", "BUILD", "FLAGS", "SOURCE_DIR", "CONFIG_FOLDER")),
            *(f"-I{ROOT / folder}" for folder in rules.INCLUDE_FOLDERS), "-isystem", "/usr/include/modbus",
            "-isystem", str(ROOT / "build_httplib")]


def main():
    files = [header for room in (*rules.ROOMS, "tools") for header in sorted((ROOT / room).rglob("*.hpp"))]
    files += sorted((ROOT / "core").rglob("*.cpp"))
    with tempfile.TemporaryDirectory() as scratch:
        precompiled = Path(scratch) / "precompiled.pch"
        subprocess.run([*COMPILER, "-fpch-instantiate-templates", "-x", "c++-header", "-", "-o", precompiled],
                       input="".join(f"#include <{name}>\n" for name in PRECOMPILED), text=True, check=True)

        def errors_of(file):
            command = [*COMPILER, "-include-pch", precompiled, "-fsyntax-only", "-x", "c++", "-"]
            done = subprocess.run(command, input=f'#include "{file}"\n', text=True, capture_output=True)
            return done.stderr or done.returncode and f"{file}: clang++ exited with {done.returncode}"
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            errors = [text for text in pool.map(errors_of, files) if text]
    print(*errors, f"{len(files)} files compiled separately, {len(errors)} with errors", sep="\n")
    sys.exit(1 if errors or not files else 0)


if __name__ == "__main__":
    main()
