#!/usr/bin/env python3
"""Checks that every relative link in Markdown leads to a file, and every anchor to a heading, as on GitHub."""

import functools
import re
import unittest
from pathlib import PurePosixPath
from posixpath import normpath

from language import HEADING, lines_outside_code
from tree import ROOT, files, read

LINK = re.compile(r"(?<!\\)\]\(\s*<?([^)\s>]*)>?(?:\s+\"[^\"]*\")?\s*\)")
DEFINITION = re.compile(r"^ {0,3}\[[^\]]+\]:\s+<?(\S+?)>?(?:\s|$)")
CODE = re.compile(r"(`+)(?:(?!\1).)+\1")
EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:|//")
HTML_ANCHOR = re.compile(r"<a\s+(?:id|name)=\"([^\"]+)\"")
SOURCE_LINES = re.compile(r"L\d+(?:-L\d+)?")


def anchor_of(heading):
    """Returns the anchor of a heading: its text in lower case without markup and punctuation, with dashes for spaces."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading.rstrip("# ").strip())
    text = re.sub(r"[^\w\- ]", "", text.lower())
    return text.replace(" ", "-")


def anchors(text):
    """Of headings with the same text, the second and later ones have numbers."""
    found = set()
    counts = {}
    for _, line in lines_outside_code(text):
        found.update(HTML_ANCHOR.findall(line))
        heading = HEADING.match(line)
        if heading:
            anchor = anchor_of(heading[1])
            count = counts.get(anchor, 0)
            counts[anchor] = count + 1
            found.add(f"{anchor}-{count}" if count else anchor)
    return found


def links(text):
    """Returns pairs of a line number and a target."""
    return [(number, target) for number, line in lines_outside_code(text)
            for pattern in (LINK, DEFINITION) for target in pattern.findall(CODE.sub("", line))
            if not EXTERNAL.match(target)]


def link_fault(path, target, exists, anchors_in):
    """Returns why a link in the file `path` is broken; None if it is not. `exists` and `anchors_in` take a path relative to
    the root."""
    place, _, anchor = target.partition("#")
    base = "" if place.startswith("/") else PurePosixPath(path).parent
    led_to = normpath(f"{base}/{place}".lstrip("/")) if place else path
    if not exists(led_to):
        return f"no such file: {led_to}"
    if "#" not in target or not led_to.endswith(".md") and SOURCE_LINES.fullmatch(anchor):
        return None
    if not led_to.endswith(".md") or anchor not in anchors_in(led_to):
        return f"no such heading in {led_to}: #{anchor}"
    return None


class Tree(unittest.TestCase):
    def test_every_link_leads_to_a_file_and_a_heading(self):
        anchors_in = functools.cache(lambda path: anchors(read(path)))
        found = [(path, number, target) for path in files(".md") for number, target in links(read(path))]
        self.assertGreater(len(found), 100, "the links were not found")
        faults = [f"{path}:{number}: {target}: {fault}" for path, number, target in found
                  for fault in [link_fault(path, target, lambda other: (ROOT / other).exists(), anchors_in)] if fault]
        if faults:
            self.fail("\n" + "\n".join(faults))


class Examples(unittest.TestCase):
    def fault(self, target, path="docs/a.md"):
        pages = {"docs/a.md": {"one"}, "b.md": {"two-words"}, "tools/run.sh": None}
        return link_fault(path, target, pages.__contains__, pages.get)

    def test_anchors_are_those_of_github(self):
        for heading, anchor in (("Two words", "two-words"), ("`run_on()` and *more*", "run_on-and-more"),
                                ('[channel "DEVICE/CHANNEL"]', "channel-devicechannel"), ("C++ & I/O", "c--io"),
                                ("See [this](a.md), twice", "see-this-twice"), ("1. Thread", "1-thread"),
                                ("Wake-ups ##", "wake-ups")):
            self.assertEqual(anchor_of(heading), anchor)

    def test_repeated_headings_have_numbers(self):
        self.assertEqual(anchors("# One\n## One\n### one\n# Two\n"), {"one", "one-1", "one-2", "two"})

    def test_code_has_no_headings_and_no_links(self):
        text = "```\n# One\n[a](b.md)\n```\n\n    # Two\n\nIn `[c](d.md)` and [e](f.md)\n"
        self.assertEqual(anchors(text), set())
        self.assertEqual(links(text), [(8, "f.md")])

    def test_every_form_of_link_is_found(self):
        text = '[a](b.md) ![c](d.svg "title") [e](#f)\n[`g`](h.md#i)\n[j]: k.md\n[l](https://m.org) <a id="n"></a>'
        self.assertEqual(links(text), [(1, "b.md"), (1, "d.svg"), (1, "#f"), (2, "h.md#i"), (3, "k.md")])
        self.assertEqual(anchors(text), {"n"})

    def test_a_broken_link_is_found(self):
        for target in ("c.md", "../c.md", "#two", "../b.md#one", "b.md", "../tools/run.sh#one", "/docs/b.md"):
            self.assertTrue(self.fault(target), target)

    def test_a_right_link_passes(self):
        for target in ("a.md", "../b.md", "#one", "../b.md#two-words", "/b.md#two-words", "../tools/run.sh#L3-L5"):
            self.assertIsNone(self.fault(target), target)


if __name__ == "__main__":
    unittest.main()
