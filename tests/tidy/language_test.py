#!/usr/bin/env python3
"""Checks the language of documents, comments, messages and names of tests. Each rule is also tested with examples that it
must find, and with similar ones that it must not find."""

import re
import unittest

import language
from prose import prose_of
from tree import FILES, files, read
from words import MESSAGE_FAULTS, SPELLINGS, WORDS

TEXT_ENDINGS = (".md", ".cpp", ".hpp", ".py", ".java", ".go", ".rs", ".sh", "/run", ".cmake", ".txt", ".ini", ".json",
                ".yml", ".toml", ".1", ".5", ".service", ".socket", "/changelog", "/logrotate", "/postinst", "/postrm",
                "/prerm", ".supp", ".clang-format", ".clang-tidy")
# Inputs of parsers.
INPUTS = re.compile(r"tests/fuzz/seeds/")
PRODUCT = ("core", "config", "device", "gateway", "store", "tools", "uplink")
# Findings that are not faults: the path, the beginning of the finding, and the reason.
EXCEPTIONS = (
    ("tests/tidy/words.py", "", "the words themselves"),
    ("tests/tidy/language.py", "", "patterns with such words"),
    ("tests/tidy/language_test.py", "", "bad examples"),
)


def checked_files(*endings):
    return [path for path in FILES if path.endswith(endings) and not INPUTS.match(path)]


def allowed_by(path, finding):
    return next((exception for exception in EXCEPTIONS if path == exception[0] and finding.startswith(exception[1])), None)


class Tree(unittest.TestCase):
    def check_all(self, rule, paths):
        self.assertTrue(paths, "the rule was applied to no file")
        findings = [f"{path}:{line}: {finding}"
                    for path in paths
                    for line, finding in rule(path, read(path)) if not allowed_by(path, finding)]
        if findings:
            self.fail("\n" + "\n".join(findings))

    def test_text_uses_the_words_of_the_field(self):
        self.check_all(language.words, checked_files(*TEXT_ENDINGS))

    def test_text_and_identifiers_are_in_us_spelling(self):
        self.check_all(language.spellings, checked_files(*TEXT_ENDINGS))

    def test_messages_say_what_must_be(self):
        self.check_all(language.messages, files(".cpp", ".hpp", under=PRODUCT))

    def test_headings_name_topics(self):
        self.check_all(language.headings, files(".md"))

    def test_lines_of_documents_are_not_too_long(self):
        self.check_all(language.long_lines, files(".md"))

    def test_every_exception_is_needed(self):
        for exception in EXCEPTIONS:
            path = exception[0]
            findings = language.words(path, read(path)) + language.spellings(path, read(path))
            self.assertTrue(any(allowed_by(path, finding) == exception for _, finding in findings), exception)


class Words(unittest.TestCase):
    """Every pattern is tested with an example that it must find, and with one that no pattern may find."""

    def findings(self, text, path="a.md"):
        return [finding for _, finding in language.words(path, text)]

    def test_every_word_is_found_and_only_that_word(self):
        for word in WORDS:
            found = self.findings(word.caught)
            self.assertTrue(any(finding.endswith(f'use "{word.use}"') for finding in found), word)
            self.assertEqual(self.findings(word.passes), [], word)

    def test_every_word_is_found_in_a_comment(self):
        for word in WORDS:
            self.assertTrue(self.findings(f"// {word.caught}\n", "a.cpp"), word)

    def test_no_replacement_is_itself_a_finding(self):
        for word in WORDS:
            self.assertEqual(self.findings(word.use), [], word)

    def test_every_spelling_is_found(self):
        for pattern, use in SPELLINGS.items():
            literal = pattern.partition("(")[0]
            self.assertTrue(language.spellings("a.cpp", f"int {literal}ed;"), literal)
            self.assertFalse(language.spellings("a.cpp", f"int {use}ed;"), use)

    def test_similar_spellings_pass(self):
        text = "an optimist emphasis; analyses; programmed; an organism; characteristic; a specialist; cancellation"
        self.assertFalse(language.spellings("a.md", text))

    def test_names_in_backquotes_pass_in_documents(self):
        self.assertFalse(language.spellings("a.md", "| `synchronised` | `books` |"))
        self.assertFalse(language.words("a.md", "| `synchronised` | `books` |"))
        self.assertTrue(language.spellings("a.cpp", "// `synchronised`"))

    def test_sentences_that_start_with_what_are_found(self):
        for text in ("What a full queue does.", "It is late. What comes next is lost.", "One.\n\nWhat follows is lost."):
            self.assertTrue(self.findings(text), text)
        for text in ("What is lost?", "what() names the option.", "It names what is wrong."):
            self.assertFalse(self.findings(text), text)


class Messages(unittest.TestCase):
    def findings(self, message):
        return language.messages("a.cpp", f'f("{message}");')

    def test_every_fault_is_found_and_only_that_fault(self):
        for fault in MESSAGE_FAULTS:
            self.assertTrue(any(fault.use in finding for _, finding in self.findings(f"{fault.caught} of a device")), fault)
            self.assertEqual(self.findings(fault.passes), [], fault)

    def test_only_sentences_have_a_final_mark(self):
        for message in ("no such file.", "cannot open the file!", "; must be 1 to 5."):
            self.assertTrue(self.findings(message), message)
        for message in ("Timeout of one run.", "once: timeout of one run.", "a name such as NAME.", "and so on ..."):
            self.assertEqual(self.findings(message), [], message)

    def test_keys_comments_and_documents_are_not_messages(self):
        self.assertEqual(language.messages("a.cpp", 'f("failed"); // failed to open\n'), [])


class Prose(unittest.TestCase):
    def pieces(self, path, text):
        return [(prose.kind, prose.text.strip()) for prose in prose_of(path, text)]

    def line_of(self, path, text, word):
        return next(prose.line_at(prose.text.index(word)) for prose in prose_of(path, text) if word in prose.text)

    def test_a_comment_of_several_lines_is_one_piece(self):
        text = "/// One is under\n    ///   way now.\nint a;  // two\n\n// three\n"
        self.assertEqual(self.pieces("a.hpp", text), [("comment", "One is under way now."), ("comment", "two"),
                                                      ("comment", "three")])
        self.assertEqual(language.words("a.hpp", text), [(1, '"under way": use "in flight, in progress"')])

    def test_adjacent_literals_are_one_piece_with_their_own_lines(self):
        text = '#include "a b.hpp"\nf("one \\"two\\" th"\n  "ree", \'"\', 1\'000, "four");\n'
        self.assertEqual(self.pieces("a.cpp", text), [("string", 'one "two" three'), ("string", "four")])
        self.assertEqual(self.line_of("a.cpp", text, "ree"), 3)
        self.assertEqual(self.line_of("a.cpp", text, "four"), 3)

    def test_raw_literals_are_pieces(self):
        text = 'int a;\nauto b = R"x(one "two"\n// three)x";  // four\n'
        self.assertEqual(self.pieces("a.cpp", text), [("string", 'one "two" // three'), ("comment", "four")])
        self.assertEqual(self.line_of("a.cpp", text, "three"), 3)

    def test_docstrings_literals_and_comments_of_python_are_pieces(self):
        text = '"""One\ntwo."""\n\n# three\n# four\nprint(f"five {x}"\n      r"\\n six")  # seven\n'
        self.assertEqual(self.pieces("a.py", text), [("string", "One two."), ("comment", "three four"),
                                                     ("string", "five {x}\\n six"), ("comment", "seven")])
        self.assertEqual(self.line_of("a.py", text, "six"), 7)

    def test_comments_and_code_of_other_files_are_pieces(self):
        text = "#!/bin/sh\n# One\n# two\necho three  # four\n"
        self.assertEqual(self.pieces("a.sh", text), [("document", "#!/bin/sh"), ("comment", "One two"),
                                                     ("document", "echo three # four")])
        self.assertEqual(self.line_of("a.sh", text, "two"), 3)

    def test_paragraphs_of_a_document_are_separate(self):
        self.assertFalse(language.words("a.md", "This is under\n\nway.\n"))
        self.assertTrue(language.words("a.md", "- This is under\n  way.\n"))

    def test_keys_pass(self):
        self.assertFalse(language.words("a.cpp", '"told"'))
        self.assertTrue(language.words("a.cpp", '"was told"'))

    def test_a_finding_has_the_line_of_the_word(self):
        self.assertEqual(language.words("a.cpp", "\n// one\n// is anew\n")[0][0], 3)
        self.assertEqual(language.spellings("a.cpp", "\n// one\n// a colour\n"), [(3, '"colour": use "color"')])


class Documents(unittest.TestCase):
    def test_headings_that_are_sentences_are_found(self):
        for heading in ("Dead is who gives no sign of life", "Losses are reported", "What we refuse, and why",
                        "Peers that block must wait.", "Nothing is lost", "Why threads?", "ZMTP, as we speak it",
                        "Where the state is reported", "A queue never stays full"):
            self.assertTrue(language.headings("a.md", f"text\n\n## {heading}\n"), heading)

    def test_headings_that_name_topics_pass(self):
        for heading in ("Devices that may block", "Detecting dead peers", "Correcting times from before the clock was set",
                        "Several I/O threads per publisher", "How to read a PLC", "Library `telegate::is`",
                        '[channel "DEVICE/CHANNEL"]', "1. Thread"):
            self.assertFalse(language.headings("a.md", f"### {heading}\n"), heading)

    def test_code_has_no_headings_and_may_have_long_lines(self):
        for text in ("```\n# It is on\n{}\n```\n", "text\n\n    # It is on\n    {}\n", "- x\n  ```\n  {}\n  ```\n"):
            text = text.format("x" * 121)
            self.assertFalse(language.headings("a.md", text))
            self.assertFalse(language.long_lines("a.md", text))
        self.assertTrue(language.headings("a.md", "```\n```\n# It is on\n"))

    def test_long_lines_are_found_outside_tables(self):
        self.assertEqual(language.long_lines("a.md", "\n" + "x" * 121), [(2, "121 characters; at most 120 are allowed")])
        self.assertFalse(language.long_lines("a.md", "x" * 120 + "\n| " + "x" * 121 + " |\n"))


if __name__ == "__main__":
    unittest.main()
