#!/usr/bin/env python3
"""Compares the messages of the product with messages.golden, so that a review sees every change of a message.

A message is a string literal of at least two words, with adjacent literals joined, in the sources of the product and its
tools. Raw literals are documents and not messages. Run with --update, this program writes messages.golden.
"""

import difflib
import re
import sys
import unittest
from pathlib import Path

from prose import CPP_LITERAL, CPP_TOKEN
from tree import files, read

GOLDEN = Path(__file__).with_name("messages.golden")
FOLDERS = ("core", "config", "device", "gateway", "store", "tools")
WORDS = re.compile(r"[A-Za-z]{2,}[^A-Za-z]* [^A-Za-z]*[A-Za-z]{2,}")
UPDATE = "tests/tidy/messages_test.py --update"


def messages(text):
    """Returns the messages of a source, as they are written in it."""
    literals = ("".join(CPP_LITERAL.findall(token["string"])) for token in CPP_TOKEN.finditer(text) if token["string"])
    return {literal for literal in literals if WORDS.search(literal)}


def golden_text():
    lines = sorted(f'{path}: "{message}"'
                   for path in files(".cpp", ".hpp", under=FOLDERS) for message in messages(read(path)))
    return "".join(line + "\n" for line in lines)


def difference(golden, current):
    """Returns the removed and the added lines; empty if there are none."""
    lines = difflib.unified_diff(golden.splitlines(), current.splitlines(), n=0, lineterm="")
    return "\n".join(line for line in lines if line.startswith(("-", "+")) and not line.startswith(("---", "+++")))


class Tree(unittest.TestCase):
    def test_messages_are_those_of_the_golden_file(self):
        changed = difference(GOLDEN.read_text(encoding="utf-8"), golden_text())
        if changed:
            self.fail(f"messages have changed; if this is intended, run {UPDATE}:\n{changed}")


class Examples(unittest.TestCase):
    def test_literals_of_two_words_are_messages(self):
        text = 'f("no such file", "x is out of range: ", " bytes; at most ");'
        self.assertEqual(messages(text), {"no such file", "x is out of range: ", " bytes; at most "})

    def test_names_comments_includes_and_raw_literals_are_not_messages(self):
        text = '#include "a b.hpp"\nf("a_key", "one", "%d %d", R"(raw text)"); // "in a comment"\n'
        self.assertEqual(messages(text), set())

    def test_adjacent_literals_are_one_message(self):
        self.assertEqual(messages('f("one "\n  "two \\"three\\"\\n" + s);'), {'one two \\"three\\"\\n'})

    def test_a_changed_message_is_shown_as_removed_and_added(self):
        self.assertEqual(difference("a: one\nb: two\n", "a: one\nb: three\n"), "-b: two\n+b: three")
        self.assertEqual(difference("a: one\n", "a: one\n"), "")


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        GOLDEN.write_text(golden_text(), encoding="utf-8")
    else:
        unittest.main()
