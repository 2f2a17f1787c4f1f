#!/usr/bin/env python3
"""Compares the places of the product that end the process with the table in assertions.py."""

import re
import unittest

from assertions import ASSERTIONS
from tree import files, read

FOLDERS = ("core", "config", "device", "gateway", "store", "uplink", "tools")
ENDINGS = re.compile(r"\bTELEGATE_ASSERT\(|\bstd::(?:terminate|abort|_Exit|quick_exit)\b|\b(?:abort|_exit|_Exit)\(|"
                     r"\bassert\(|__builtin_(?:trap|unreachable)\b")

def argument(text, start):
    """Returns the text from `start` to the parenthesis that ends it, with single spaces."""
    depth = 1
    for end in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0:
            return " ".join(text[start:end].split())
    return text[start:]


def endings(text):
    """Returns the expressions of the assertions in a source, and the names of functions that end the process."""
    code = re.sub(r"//[^\n]*|#define(?:[^\n\\]|\\.|\\\n)*", "", text)
    found = set()
    for match in ENDINGS.finditer(code):
        name = match.group()
        found.add(argument(code, match.end()) if name == "TELEGATE_ASSERT(" else name.rstrip("("))
    return found


def differences(table, tree):
    """`tree`: the expressions of each file."""
    found = [f"{path}: no row for {each}" for path, all_of in tree.items() for each in all_of - set(table.get(path, {}))]
    found += [f"{path}: the row for {each} is out of date"
              for path, rows in table.items() for each in set(rows) - tree.get(path, set())]
    found += [f"{path}: no reason for {each}"
              for path, rows in table.items() for each, reason in rows.items() if len(reason.split()) < 3]
    return sorted(found)


class Tree(unittest.TestCase):
    def test_each_place_that_ends_the_process_has_a_reason(self):
        tree = {path: endings(read(path)) for path in files(".cpp", ".hpp", under=FOLDERS)}
        self.assertTrue(any(tree.values()))
        found = differences(ASSERTIONS, {path: each for path, each in tree.items() if each})
        self.assertEqual(found, [], "\n" + "\n".join(found))


class Examples(unittest.TestCase):
    def test_expressions_are_found_on_several_lines_and_not_in_comments(self):
        text = "TELEGATE_ASSERT(a(1) &&\n    b);  // TELEGATE_ASSERT(c)\nstd::abort();\n#define X \\\n  assert(y)\n"
        self.assertEqual(endings(text), {"a(1) && b", "std::abort"})

    def test_a_new_assertion_an_old_row_and_a_missing_reason_are_found(self):
        table = {"a.cpp": {"x": "checked by the caller", "y": "because"}, "b.cpp": {"z": "checked by the caller"}}
        self.assertEqual(differences(table, {"a.cpp": {"x", "y", "new"}}),
                         ["a.cpp: no reason for y", "a.cpp: no row for new", "b.cpp: the row for z is out of date"])


if __name__ == "__main__":
    unittest.main()
