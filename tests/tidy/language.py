"""The language rules as functions: each takes a path (relative to the root) and a text, and returns its findings as pairs
of a line number and a message."""

import re

from prose import prose_of
from words import MESSAGE_FAULTS, SPELLINGS, WORDS

LINE_CHARACTERS_MAX = 120

WORD_PATTERNS = [re.compile(rf"\b(?:{word.pattern})\b") for word in WORDS]
ANY_WORD = re.compile(rf"\b(?:{'|'.join(word.pattern for word in WORDS)})\b")
MESSAGE = re.compile(r"[A-Za-z]{2,}.* .*[A-Za-z]{2,}")  # at least two words
MESSAGE_PATTERNS = [(re.compile(rf"(?<!\w)(?:{fault.pattern})(?!\w)", re.I), fault.use) for fault in MESSAGE_FAULTS]
# A message that is no sentence, with a final mark. Sentences may follow a name and a colon.
ENDS_LIKE_SENTENCE = re.compile(r"^(?![a-z_ ]+: )[a-z;,:][^.]*[^.A-Z]\.$|!$")
SPELLING_PATTERNS = [(pattern.partition("(")[0], re.compile(pattern), use) for pattern, use in SPELLINGS.items()]
# A sentence that starts with "what" and is not a question. Two spaces separate paragraphs.
HEADLESS = re.compile(r"(?:^ ?|[.!?] |  )(?P<word>[Ww]hat)\b(?!\()(?![^.!|]*\?)")

FENCE = re.compile(r"^ *(```|~~~)")
HEADING = re.compile(r"^#{1,6} +(.*)")
QUESTION = re.compile(r"^(?:what|who|where|when|why|which|whether|if|how(?! to))\b", re.I)
PRONOUN = re.compile(r"\b(?:we|you|he|she|it|they|us|our|your|who|whoever|nobody|everybody|nothing|everything)\b", re.I)
# Verbs that make a heading a sentence, except in clauses such as "Devices that may block".
FINITE_VERB = re.compile(
    r"\b(?:is|are|was|were|be|has|have|had|does|do|did|can|cannot|could|may|might|must|will|would|shall|should|"
    r"becomes|belongs|comes|gets|gives|goes|happens|keeps|knows|loses|makes|means|says|stands|stays|takes|tells)\b", re.I)
CLAUSE = re.compile(r"\s(?:that|which|whose|before|after|during)\s.*", re.I)
# Headings that look like sentences and are not.
TOPICS = frozenset()


def words(path, text):
    findings = []
    for prose in prose_of(path, text):
        if prose.kind == "string" and " " not in prose.text.strip():
            continue  # a key or a name
        lower = prose.text.lower()
        for match in ANY_WORD.finditer(lower):
            word = next(word for word, pattern in zip(WORDS, WORD_PATTERNS) if pattern.match(lower, match.start()))
            findings.append((prose.line_at(match.start()), f'"{match[0]}": use "{word.use}"'))
        for match in HEADLESS.finditer(prose.text):
            findings.append((prose.line_at(match.start("word")), f'"{match["word"]} ...": use "a noun as the subject"'))
    return findings


def messages(path, text):
    findings = []
    for prose in prose_of(path, text):
        if prose.kind != "string" or not MESSAGE.search(prose.text):
            continue
        faults = [(match[0], use) for pattern, use in MESSAGE_PATTERNS for match in pattern.finditer(prose.text)]
        if ENDS_LIKE_SENTENCE.search(prose.text):
            faults.append((prose.text, "no final mark"))
        findings += [(prose.line_at(0), f'"{found}": use "{use}"') for found, use in faults]
    return findings


def spellings(path, text):
    """Applies to code as well, except for names in backquotes in documents, such as former names in the changelog."""
    lower = text.lower()
    found = [(pattern, use) for literal, pattern, use in SPELLING_PATTERNS if literal in lower]
    if not found:
        return []
    pieces = prose_of(path, lower) if path.endswith(".md") else [None]
    findings = []
    for prose in pieces:
        searched = prose.text if prose else lower
        for pattern, use in found:
            for match in pattern.finditer(searched):
                line = prose.line_at(match.start()) if prose else lower.count("\n", 0, match.start()) + 1
                findings.append((line, f'"{match[0]}": use "{use}"'))
    return findings


def lines_outside_code(text):
    """Returns the numbered lines of a Markdown text that are not in code blocks."""
    lines = []
    is_fenced = is_indented = False
    is_after_blank = True
    for number, line in enumerate(text.split("\n"), 1):
        if FENCE.match(line):
            is_fenced = not is_fenced
        elif not is_fenced:
            is_indented = line.startswith("    ") and (is_after_blank or is_indented)
            if not is_indented:
                lines.append((number, line))
        is_after_blank = not line.strip()
    return lines


def heading_fault(heading):
    """Returns why a heading does not name a topic; None if it does."""
    plain = re.sub(r"`[^`]*`|\[[^\]]*\]", "x", heading)
    if heading in TOPICS:
        return None
    if plain.endswith((".", "!", "?", ":")):
        return "a heading must not be a sentence"
    if QUESTION.match(plain) or PRONOUN.search(plain):
        return "a heading must name a topic"
    if FINITE_VERB.search(CLAUSE.sub("", plain)):
        return "a heading must not have a finite verb"
    return None


def headings(path, text):
    matches = [(number, HEADING.match(line)) for number, line in lines_outside_code(text)]
    return [(number, f'"{match[1]}": {fault}') for number, match in matches if match
            for fault in [heading_fault(match[1])] if fault]


def long_lines(path, text):
    return [(number, f"{len(line)} characters; at most {LINE_CHARACTERS_MAX} are allowed")
            for number, line in lines_outside_code(text)
            if len(line) > LINE_CHARACTERS_MAX and not line.lstrip().startswith("|")]
