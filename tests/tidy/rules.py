"""The house rules as functions: each takes a path (relative to the root) and a text, and returns its findings."""

import json
import re
from pathlib import PurePosixPath

ROOMS = ("core", "config", "device", "gateway")
# Who may include the public headers of whom. Nobody includes gateway.
MAY_INCLUDE = {
    "core": ("core",),
    "config": ("config",),
    "device": ("device", "core"),
    "gateway": ("config", "core", "device"),
    "tools": ("config", "core", "device"),
    "tests": ("config", "core", "device"),
}
SOURCE_LINES_MAX = 400
MAIN_LINES_MAX = 80
README_LINES_MAX = {"README.md": 200, "core/README.md": 110, "core/src/zmtp/README.md": 130}
ROOM_README_LINES_MAX = 40

SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep)\b|\btime\.sleep\b|\bsleep\s*\(|^\s*sleep\s+[\d.$]", re.M)
# Names of the language's own, and of those whose they are: the compiler, the system and its C library.
RESERVED = re.compile(r"\b(?!_SC_|__libc_|__builtin_|__(?:asm|volatile|FILE|LINE|VERSION|clang|clang_version|x86_64|i386|"
                      r"aarch64|SANITIZE_THREAD)__\b|__has_feature\b|_Exit\b)(?:_[A-Z]\w*|\w*__\w*)\b")
LEFTOVER = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b")  # split so as not to find themselves


def lines_matching(text, pattern, what):
    found = (match.start() for match in pattern.finditer(text))
    return [f"line {text.count(chr(10), 0, start) + 1}: {what}" for start in found]


def too_long(text, lines_max):
    count = len(text.splitlines())
    return [f"{count} lines, at most {lines_max}"] if count > lines_max else []


def source_length(path, text):
    return too_long(text, MAIN_LINES_MAX if path.endswith("/src/main.cpp") else SOURCE_LINES_MAX)


def readme_length(path, text):
    return too_long(text, README_LINES_MAX.get(path, ROOM_README_LINES_MAX))


def include_direction(path, text, exists):
    """`exists` tells whether a path relative to the root is a file."""
    room = path.split("/")[0]
    findings = []
    for opening, name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">]', text, re.M):
        first = name.split("/")[0]
        if name.endswith(".cpp"):
            findings.append(f'"{name}": a source is compiled, not included')
        if opening == "<":
            if any(exists(f"{other}/include/{name}") for other in ROOMS):
                findings.append(f"<{name}>: our own headers are included in quotes")
            continue
        if first in ROOMS and exists(f"{first}/include/{name}"):
            if first not in MAY_INCLUDE[room]:
                findings.append(f'"{name}": {room} may not include {first}')
        elif not is_own_header(path, name, exists):
            findings.append(f'"{name}": neither a public header of a room nor a private one of {room}')
    return findings


def is_own_header(path, name, exists):
    folder = PurePosixPath(path).parent
    room = path.split("/")[0]
    places = [str(folder), f"{room}/src"]
    if room == "tests":  # tests mirror the rooms and may look inside what they test
        places += ["tests", "tools", "tools/perf_tool"] + [f"{other}/src" for other in ROOMS]
    if path.startswith(("tools/perf_tool/", "tools/reference/")):  # they measure parts of the line, and print its tables
        places += ["tools/perf_tool", "core/src", "gateway/src"]
    if path.startswith("tools/reference/"):  # makes pages of the tables
        places += ["gateway/src"]
    return any(exists(f"{place}/{name}") for place in places)


def sleeps(path, text):
    return lines_matching(text, SLEEP, "a sleep; wait for the condition with support/eventually.hpp")


def console_output(path, text):
    return lines_matching(text, re.compile(r"\bstd::cout\b"), "std::cout; only tools and main() print")


def reserved_names(path, text):
    code = re.sub(r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:[^"\\\n]|\\.)*"|//.*', lambda match: "\n" * match[0].count("\n"), text)
    return lines_matching(code, RESERVED, "a name that is reserved for the language")


def leftovers(path, text):
    return lines_matching(text, LEFTOVER, "an unfinished thought; do it or leave it out")


def test_names(path, text):
    """Catch2 takes a name that begins with a dash for an option and one with a bracket for a tag."""
    return lines_matching(text, re.compile(r'\bTEST_CASE\(\s*"[^A-Za-z0-9]'), "a test's name begins with a word")


def namespace_in_header(path, text):
    # Namespaces do not indent, so what is indented is inside a function and reaches nobody else.
    return lines_matching(text, re.compile(r"^using\s+namespace\b", re.M), "using namespace in a header")


def header_guard(path, text):
    return [] if text.startswith("#pragma once\n") else ["does not begin with #pragma once"]


def preset_texts(path, text):
    """Every configure preset says in a sentence what it is for; those that can be chosen have a name to show."""
    findings = []
    for preset in json.loads(text).get("configurePresets", []):
        if not preset.get("description", "").endswith("."):
            findings.append(f"{preset['name']}: no description in a sentence")
        if not preset.get("hidden") and not preset.get("displayName"):
            findings.append(f"{preset['name']}: no displayName")
    return findings


def preset_twins(path, text):
    """What can be configured can be built and tested under the same name."""
    presets = json.loads(text)
    names = {kind: {p["name"] for p in presets.get(kind, []) if not p.get("hidden")}
             for kind in ("configurePresets", "buildPresets", "testPresets")}
    return [f"{name}: missing among the {kind}"
            for kind in ("buildPresets", "testPresets")
            for name in sorted(names["configurePresets"] - names[kind])]
