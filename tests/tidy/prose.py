"""Extracts the prose of a file: documents, comments, docstrings and string literals.

One piece of prose is a document, a comment of one or more lines, or a string of one or more adjacent literals. Comment
marks are removed and lines are joined with spaces, so that a phrase is found even if a line break divides it.
"""

import bisect
import io
import itertools
import re
import tokenize

CPP_TOKEN = re.compile(r"""
      (?P<comment> //.*(?:\n[ \t]*//.*)* )
    | \bR"(?P<tag>\w*)\((?P<raw>(?:.|\n)*?)\)(?P=tag)"
    | (?P<string> "(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")* )
    | ^[ \t]*\#[ \t]*include.* | '(?:[^'\\\n]|\\.)+' | \b\d[\w'.]* | /\*(?:.|\n)*?\*/""", re.X | re.M)
CPP_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
PYTHON_LITERAL = re.compile(r"""(?P<prefix>\w*)(?P<quotes>'{3}|"{3}|['"])(?P<body>(?:.|\n)*)(?P=quotes)""")
COMMENT_MARK = re.compile(r'^\s*(?://[/!]?<?|#+|\.\\")(?=\s|$)')
ESCAPE = re.compile(r"\\(\n|.)")
# Names in code: one word in backquotes, and the target of a link.
CODE_NAME = re.compile(r"`[^`\s]+`|\]\([^)\s]+\)")


class Prose:
    """`kind` is "comment", "string" or "document"; `text` has no line breaks."""

    def __init__(self, kind, parts):
        """`parts` are pairs of a line number and a text that starts on that line."""
        self.kind = kind
        rows = []
        self._starts, self._lines = [], []
        end = 0
        for first, text in parts:
            lines = text.split("\n")
            for offset, line in enumerate(lines):
                row = " ".join(line.split()) + " " if len(lines) > 1 else line
                self._starts.append(end)
                self._lines.append(first + offset)
                rows.append(row)
                end += len(row)
        self.text = "".join(rows)

    def line_at(self, position):
        return self._lines[bisect.bisect_right(self._starts, position) - 1]


def unescaped(literal):
    return ESCAPE.sub(lambda match: " " if match[1] in "nrt" else match[1], literal)


def marks_removed(text):
    return CODE_NAME.sub("``", "\n".join(COMMENT_MARK.sub("", line) for line in text.split("\n")))


def document_prose(path, text):
    if path.endswith(".md"):
        yield Prose("document", [(1, CODE_NAME.sub("``", text))])
        return
    number = 1
    for is_comment, lines in itertools.groupby(text.split("\n"), lambda line: bool(COMMENT_MARK.match(line))):
        lines = list(lines)
        yield Prose("comment" if is_comment else "document", [(number, marks_removed("\n".join(lines)))])
        number += len(lines)


def cpp_prose(text):
    line, counted = 1, 0

    def line_of(position):
        nonlocal line, counted
        line += text.count("\n", counted, position)
        counted = position
        return line

    for token in CPP_TOKEN.finditer(text):
        if token["comment"] is not None:
            yield Prose("comment", [(line_of(token.start()), marks_removed(token[0]))])
        elif token["raw"] is not None:
            yield Prose("string", [(line_of(token.start("raw")), token["raw"])])
        elif token["string"] is not None:
            yield Prose("string", [(line_of(literal.start()), unescaped(literal[1]))
                                   for literal in CPP_LITERAL.finditer(text, token.start(), token.end())])


def python_tokens(text):
    """Returns the tokens, with f-strings as single ones, as they are before Python 3.12."""
    begin, end = (getattr(tokenize, name, None) for name in ("FSTRING_START", "FSTRING_END"))
    lines, opened = text.splitlines(keepends=True), []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == begin:
            opened.append(token)
        elif token.type == end:
            (row, column), (last_row, last_column) = opened.pop().start, token.end
            rows = lines[row - 1:last_row]
            rows[-1] = rows[-1][:last_column]
            rows[0] = rows[0][column:]
            token = token._replace(type=tokenize.STRING, string="".join(rows), start=(row, column))
        if not opened:
            yield token


def python_prose(text):
    comments, strings = [], []
    for token in python_tokens(text):
        if token.type == tokenize.STRING:
            literal = PYTHON_LITERAL.fullmatch(token.string)
            is_raw = "r" in literal["prefix"].lower()
            strings.append((token.start[0], literal["body"] if is_raw else unescaped(literal["body"])))
        elif token.type == tokenize.COMMENT:
            comments.append((token.start[0], " " + marks_removed(token.string).strip()))
        elif token.type != tokenize.NL:  # other code separates comments, and strings
            for kind, parts in (("string", strings), ("comment", comments)):
                if parts:
                    yield Prose(kind, parts)
            comments, strings = [], []


def prose_of(path, text):
    if path.endswith((".cpp", ".hpp")):
        return cpp_prose(text)
    return python_prose(text) if path.endswith(".py") else document_prose(path, text)
