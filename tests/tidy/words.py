"""The words that this project does not use, and their replacements. language_test.py searches for them.

A pattern is a regular expression that starts and ends at the boundary of a word; case is ignored, and a space also
matches a line break. `caught` and `passes` are examples for the test of the pattern.

Some rules cannot be checked this way: a word such as "line" or "lost" is right in one meaning and wrong in another.
"""

from typing import NamedTuple


class Word(NamedTuple):
    pattern: str
    use: str
    caught: str
    passes: str


# Words between which "what" has no antecedent.
BEFORE_WHAT = "after|before|behind|than|from|with|until|drops|keeps|takes|sends|reads|parses"
AFTER_WHAT = "is(?! allowed)|was|are|were|has|had|comes|came|goes|follows|lies|would|they|it|we"
# Nouns that name programs, which are "it" or "they".
PROGRAM = "clients?|peers?|subscribers?|readers?|publishers?|producers?|consumers?|servers?|gateways?|connections?"
# Words after which "who" is a relative pronoun for a person or begins an indirect question.
BEFORE_WHO = ("user", "users", "operator", "operators", "anybody", "anyone", "somebody", "someone", "everybody",
              "people", "person", "nobody", "see", "show", "shows", "record", "records", "log", "logs", "know", "knows")

WORDS = (
    # Ledger and losses.
    Word("books?", "ledger, accounted for", "the books balance", "the bookkeeping balances"),
    Word("told|tells? of|said", "notified, reported", "it is told of losses", "it tells apart two losses"),
    Word(r"hears?(?!\()|heard", "receives, is notified", "a client hears what it missed",
         "a client receives what it missed"),
    Word(r"g(?:i(?:ve|ves|ven|ving)|ave) up(?! to \d)", "drop, stop retrying", "samples that are given up",
         "may be given up to 16 times"),
    Word("stretch(?:es)?", "range", "a stretch of the log", "a range of the log"),
    Word("runs? of the log", "range of the log", "a run of the log", "a run of the test"),
    Word("torn off|cut (?:off|short)|(?:is|are|was|were|been|be) (?:cut|torn)(?! into| at| in)", "closed, truncated",
         "a connection is cut", "a text is cut at a boundary"),
    # Connections.
    Word("under ?way", "in flight, in progress", "a request is under way", "a request is in flight"),
    Word("on (?:its|their) way", "pending, queued", "a message on its way", "in a similar way"),
    Word("signs? of life", "heartbeat; times out", "the last sign of life", "the end of life"),
    Word("h[eo]ld(?:s|ing)? up(?! to)|waits? for others", "blocks, stalls", "a thread is held up",
         "a record holds up to 64 samples"),
    Word("new-?comers?|comes? in(?! order)|came in|coming in", "a new connection, is received",
         "no room for a newcomer", "income, or a client that comes first"),
    Word("(?:comes?|came|coming) (?:again|back)", "reconnect, return", "a client that comes back",
         "a client that comes first"),
    Word("let in|lets in", "accepted, allowed", "a key that is let in", "a filter lets inputs pass"),
    Word("(?:peers?|subscribers?) (?:has |have |had |that )?(?:left|leaves?)(?! (?:the|bytes|it|them|no|its)\\b)",
         "disconnects, disconnected", "the peer left", "the disconnected peer leaves no session behind"),
    Word("go(?:es)? on|went on|going on", "continue", "the gateway goes on", "the gateway goes online"),
    Word(r"(?<!\$)beats?(?![\"_:])", "heartbeat notice", "a beat for a quiet channel", "a heartbeat, in \"beats\": 0"),
    Word("asks?(?!\\()|asked|asking", "request, query", "a client that asks", "a task, or ask()"),
    Word("(?:an|the|no|its|one|each|every|first|last|late|empty|this|that|two|any|whose|their|wrong|right) answers?",
         "response, reply", "a peer without an answer", "a request that it answers"),
    # Capacity and waiting.
    Word("(?:no|has|have|had|is|make|makes|made|making|enough|leaves?|with|more|free) room|room (?:for|is)",
         "capacity, space; to be full", "the queue has room", "the rooms of the repository"),
    Word("patient|impatient|patiently", "low-power mode, lazy wake-up", "a patient waker", "is_patient()"),
    Word("prompt|promptly", "normal mode, immediately", "a prompt waker", "a prompted waker"),
    Word("out of (?:something|descriptors|files|threads|sockets|ports|resources)",
         "resources exhausted; name the resource", "out of descriptors", "out of memory, out of order"),
    Word("seldom|seldomer|more seldom", "rarely, with exponential backoff", "it retries ever more seldom",
         "it rarely retries"),
    Word("(?:a|the) (?:first |second |last |next |further )?look(?!\\(|ing)", "a check, a read", "the second look",
         "at the next look()"),
    Word("(?:not|has|was|gateway|process) (?:stop|stopped|end|ended) in order", "cleanly", "it did not stop in order",
         "starts and stops in order"),
    # Numbers.
    Word(r"from \d[\d.]* on(?![-/\w])(?! [a-z]+ ?(?:side|thread))", "from N, N and above", "all numbers from 1 on",
         "from 1 to 2 on one machine"),
    Word(r"per (?:second|minute|hour|day) and (?:device|channel|cause|peer|client|subscriber|address)",
         "per minute for each device", "60 lines per minute and device", "once per minute and at the end"),
    Word("(?<!for )so many (?:bytes|entries|numbers|samples|readings|times)", "this many",
         "so many bytes before the end", "so many peers wait that it is full"),
    Word("some (?:tens?|hundreds?|thousands?|millions?)", "a few hundred, tens of", "it takes some hundred samples",
         "some samples"),
    # Files.
    Word("sets? aside|setting aside", "quarantined, renamed, stored", "a damaged file is set aside",
         "a set of insiders"),
    Word("safe by", "checksummed per", "safe by record", "safe to use"),
    Word("(?:cannot|can|could|to) be had", "is unavailable, cannot be opened, cannot be bound", "a port cannot be had",
         "a port cannot be bound"),
    Word("twice, first|there twice", "duplicate (first defined on line N)", "twice, first in line 4",
         "duplicate (first defined on line 4)"),
    Word("(?<!there )(?:is|are|was|were) no(?! longer| more| \\w+er )", "is not a, is not an", "a text is no number",
         "there is no number; it is no longer set"),
    Word("(?:stands?|stood)(?! for| still|-)", "is, is in, is defined in", "the limit stands in limits.hpp",
         "two quotes stand for one; time stands still"),
    Word("made[- ]up", "simulated, invented", "made-up signals", "the value is made by a driver"),
    Word(r"wins? over|wins", "overrides", "the last source wins over others", "winscp"),
    Word("nothing means", "empty means", "nothing means none", "nothing is meant"),
    Word("allowed, allowed|(?<=[,;] )allowed(?=:)", "; must be, : must be", "7 is not allowed; allowed: 8",
         "out of range: 7; must be 8; it is allowed"),
    # Subjects.
    Word("whoever|(?<!-)whom(?:ever)?|whosoever", "a client that, the peer that", "whoever wants to be waited for",
         "whose key it is"),
    Word("".join(f"(?<!{word} )" for word in BEFORE_WHO) + r"who(?!=)", "a client that, the peer that",
         "for who asks later", "anybody who has the key"),
    Word(f"(?:{PROGRAM}) who", "that", "clients who send", "clients that send"),
    Word("he|him|his|himself|she|her|hers", "it, they", "a client and his key", "the cache"),
    Word("one's", "its own, dedicated", "one's own thread", "ones and zeros"),
    Word(f"(?:{BEFORE_WHAT}) what (?:{AFTER_WHAT})", "name the data", "after what was published",
         "whether it knows what was published"),
    Word("what (?:comes|goes|came|stands|waits|fell|arrives?)", "name the data: incoming data, samples",
         "so what comes next is lost", "it knows what changed"),
    Word("whether or not (?:any|some)(?:body|one)|(?:that|which) nothing here", "name the subject",
         "a name that nothing here has", "whether or not the file exists"),
    Word("for people", "human-readable", "a text for people", "a text that people read"),
    Word("users? of the gateway", "the user that the gateway runs as", "the user of the gateway needs the group",
         "the user that runs the gateway"),
    Word("bytes from outside", "malformed input, untrusted input", "a status for bytes from outside",
         "it reads bytes outside a frame"),
    Word("named (?:gaps?|as (?:missing|lost))", "a gap, reported as missing", "a sample that is named as missing",
         "a channel named as in sysfs"),
    # Old words.
    Word("(?:not|nothing|no|none) (?:\\w+ ){1,4}any ?(?:longer|more)(?! than)", "no longer",
         "it is not polled any more", "any more than it must"),
    Word("anew|begins? again", "again, restarts", "begins anew", "a new epoch"),
    Word("mend|mends|mended|mending", "fix", "mend the map", "amend the map, recommended"),
    Word("thrice", "three times", "thrice a second", "three times a second"),
    Word("be it|comes? to be|sooner or later|ever more|as ever|evermore", "a plain statement",
         "a value, be it a number", "it must be its value"),
    Word("where(?:of|in|upon|by)|there(?:of|in|upon)|here(?:of|in|by)|hence(?:forth)?|thence|whence|hitherto|lest",
         "of which, in it, therefore, otherwise", "a file whereof one line is read", "wherever it is, or there"),
    Word("whilst|amongst|upon|amidst|save for|or else", "while, among, on, except, otherwise", "whilst it runs",
         "while it runs"),
    Word("beside", "next to", "the file beside it", "besides"),
    Word(r"(?:all|none|nothing|everything|nobody|at once,) but for|but for (?:what|those|--)", "except, unless",
         "all but for one", "short, but for long messages slow"),
    Word("put behind|comes behind", "after, higher than", "an epoch that is put behind it",
         "a peer that is far behind"),
    Word("left out", "omitted, ignored", "hidden files are left out", "the left outlet"),
    Word("for good(?=[.,;)])", "permanently", "closed for good, while", "for good reasons"),
    Word("in vain", "without success", "waits in vain", "in various"),
    Word("typing errors?", "typo", "a typing error shows", "a type error"),
    Word("gaps? of reason", "gap with reason", "gaps of reason 4", "the reason of a gap"),
    Word("good (?:line|frame)s?", "valid line", "without a good line", "a good reading"),
    Word("untold", "unreported", "untold samples", "reported samples"),
    Word("a damage", "damage", "after a damage", "after a damaged record"),
    Word("now and then|by and by", "occasionally", "it is read now and then", "it is read now, and then written"),
)

# The same for messages of the product only. A message names what is wrong, then the value, then what it must be.
MESSAGE_FAULTS = (
    Word("failed to|unable to|could not|can't|cannot be able", "cannot", "failed to open ", "a reading failed"),
    Word("expected|should be|shall be|has to be|needs to be|valid values|possible values|supported:", "must be",
         "7, expected 1 to 5", "; must be 1 to 5"),
    Word("please|sorry|oops|unfortunately", "the fact alone", "please check the port", "check the port"),
)

# Stems of verbs that end in -ise in British spelling, and in -ize in US spelling.
IZE_STEMS = ("author categor central character custom emphas final general initial item local maxim memor minim modern "
             "neutral normal optim organ parallel priorit random real recogn serial special stabil standard summar "
             "synchron token util visual").split()
# Parts of words in British spelling, as regular expressions that begin with letters, and their US spelling. Code is
# searched as well, because identifiers are in US English too.
SPELLINGS = {
    "acknowledgement": "acknowledgment", "ageing": "aging", "analyse(?!s)": "analyze", "analysing": "analyzing",
    "artefact": "artifact", "behaviour": "behavior", "cancelled": "canceled", "cancelling": "canceling",
    "catalogue": "catalog", "centre": "center", "colour": "color", "defence": "defense", "dialogue": "dialog",
    "favour": "favor", "flavour": "flavor", "honour": "honor", "judgement": "judgment", "labelled": "labeled",
    "labelling": "labeling", "labour": "labor", "learnt": "learned", "licence": "license", "metre": "meter",
    "modelled": "modeled", "modelling": "modeling", "neighbour": "neighbor", "programme(?!d|r|s)": "program",
    "signalled": "signaled", "signalling": "signaling", "spelt": "spelled", "towards": "toward",
    "travelled": "traveled",
    **{f"{stem}is(?=e|ing|ation)": f"{stem}iz" for stem in IZE_STEMS},
}
