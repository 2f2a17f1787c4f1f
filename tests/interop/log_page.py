"""Reads segments of a log as docs/log-format.md describes, with the functions of the page: what its reader prints, and
the footers and gaps that it does not print."""

import contextlib
import io
import os
import pathlib
import re
import struct
import sys
import types
from unittest import mock

PAGE = pathlib.Path(os.environ["TELEGATE_SOURCE_DIR"], "docs/log-format.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
READER = "".join(BLOCKS)
REASONS = dict(re.findall(r"^\| (\d) \| `(\w+)` \|", PAGE, re.M))
# For machines without the Debian package python3-zstandard: the part of it that the reader uses.
ZSTANDARD = """
import ctypes
library = ctypes.CDLL("libzstd.so.1")

def decompress(data, max_output_size):
    raw = ctypes.create_string_buffer(max_output_size)
    size = library.ZSTD_decompress(raw, ctypes.c_size_t(len(raw)), data, ctypes.c_size_t(len(data)))
    assert 0 <= size <= max_output_size, "not a zstd frame"
    return raw.raw[:size]
"""

try:
    import zstandard  # noqa: F401
except ImportError:
    print("this Python has no zstandard (Debian package python3-zstandard), so a substitute is used")
    sys.modules["zstandard"] = types.ModuleType("zstandard")
    try:
        exec(ZSTANDARD, vars(sys.modules["zstandard"]))
    except OSError:
        print("skipped: this machine has no libzstd.so.1 either")
        sys.exit(77)
page = types.SimpleNamespace()
exec(compile("".join(BLOCKS[:-1]), "log-format.md", "exec"), vars(page))  # the last block reads a whole log


def read(folder):
    """Returns the lines that the reader prints."""
    output = io.StringIO()
    with mock.patch.object(sys, "argv", ["read_log.py", str(folder)]), contextlib.redirect_stdout(output):
        exec(compile(READER, "read_log.py", "exec"), {"__name__": "__main__"})
    return output.getvalue().splitlines()


def varints(f, count):
    return [page.varint(f) for _ in range(count)]


def columns(f, count, values):
    """Returns the records whose fields are in `count` integer columns."""
    return list(zip(*[page.integers(f, values) for _ in range(count)]))


def read_channels(f):
    """Returns topic and last sequence number by channel number."""
    channels = {}
    for _ in range(page.varint(f)):
        number, last_seq = varints(f, 2)
        device, channel, _ = [f.read(page.varint(f)).decode() for _ in range(3)]
        channels[number] = (device + "/" + channel, last_seq)
    return channels


class Block:
    def __init__(self, f, payload, offset, position):
        samples, gaps, channels, chunks, self.published = varints(f, 5)
        self.entry = (offset, position, samples + gaps, samples, *struct.unpack("<qq", f.read(16)))  # as in the footer
        self.channels = [(number, first, first + count - 1 + missing)
                         for number, count, first, missing in columns(f, 4, channels)]
        self.gaps = [(number, first, first + more, REASONS[str(reason)])
                     for _, number, first, more, reason in columns(f, 5, gaps)]
        self.lost = set()  # numbers of the channels whose samples cannot be read
        chunk_channels = [[*varints(f, 3), f.read(4)] for _ in range(chunks)]
        ends = [first for _, _, first, _ in chunk_channels[1:]] + [channels]
        for (_, stored, first, checksum), end in zip(chunk_channels, [channels] + ends[1:]):
            if checksum != page.crc32c(payload[:stored]):  # chunk 0 has all channels
                self.lost |= {number for number, _, _ in self.channels[first:end]}
            payload = payload[stored:]


class Footer:
    def __init__(self, f):
        self.end_position, has_stop = varints(f, 2)
        f.read(16 * has_stop)
        blocks, channels = varints(f, 2)
        self.blocks = columns(f, 6, blocks)
        self.channels = columns(f, 4, channels)
        self.definitions = read_channels(f)


class Segment:
    def __init__(self, path, end_position):
        self.data = path.read_bytes()
        self.is_segment = self.data[76:80] == page.crc32c(self.data[:76])
        self.epoch, = struct.unpack_from("<q", self.data, 40)
        self.channels, self.blocks, self.footer = {}, [], None  # None in place of blocks that are damaged
        at = 80 if self.is_segment else len(self.data)
        while at + 32 <= len(self.data):
            checksum, head_bytes, payload_bytes, kind, position = struct.unpack_from("<4sIIHxxQ", self.data, at)
            end = at + head_bytes + payload_bytes
            if head_bytes < 32 or end > len(self.data) or checksum != page.crc32c(self.data[at + 4:at + head_bytes]):
                self.blocks += [None] * (self.blocks[-1:] != [None])
                at += 8
                continue
            content = io.BytesIO(self.data[at + 32:at + head_bytes])
            if kind == 1:
                self.channels |= read_channels(content)
            elif kind == 2 and position < end_position:
                self.blocks.append(Block(content, self.data[at + head_bytes:end], at, position))
            elif kind == 4:
                self.footer = Footer(content)
            at = end


def read_segments(folder):
    paths = sorted(folder.glob("*.tgl"))
    return [Segment(path, end) for path, end in zip(paths, [int(path.stem) for path in paths[1:]] + [2**64])]


class Gaps:
    """Derives the gaps of a log: `found` has epoch, topic, first and last sequence number, and reason."""

    def __init__(self, folder):
        self.found, self.epoch, self.samples = [], None, {}
        for line in read(folder):
            epoch, topic, seq = line.split()[:3]
            self.samples.setdefault((int(epoch), topic), []).append(int(seq))
        segments = read_segments(folder)
        for segment in segments:
            if segment.is_segment:
                self.add_segment(segment, segment is segments[0])
            else:
                self.is_unreadable = True

    def add_segment(self, segment, is_oldest):
        if segment.epoch != self.epoch:
            self.epoch, self.last_seqs, self.is_unreadable = segment.epoch, {}, False
        topics = {number: topic for number, (topic, _) in segment.channels.items()}
        for topic, last_seq in segment.channels.values():
            self.reach(topic, last_seq, "retention" if is_oldest else "damaged")
        for block in segment.blocks:
            self.is_unreadable |= block is None or bool(block.lost)
            if block:
                self.add_block(block, topics)
        for number, _, _, last in segment.footer.channels if segment.footer else ():
            self.reach(topics[number], last, "damaged")

    def add_block(self, block, topics):
        entries = [(first, last, topics[number], reason) for number, first, last, reason in block.gaps]
        for number, first, last in block.channels:
            seqs = self.samples.get((self.epoch, topics[number]), []) if number not in block.lost else []
            entries += [(seq, seq, topics[number], None) for seq in seqs if first <= seq <= last]
        for first, last, topic, reason in sorted(entries, key=lambda entry: entry[0]):  # within a channel: their order
            self.reach(topic, first - 1, "damaged" if self.is_unreadable else "unknown")
            self.reach(topic, last, reason)
        for number, _, last in block.channels:
            self.reach(topics[number], last, "damaged")

    def reach(self, topic, seq, reason):
        """Names what is missing up to `seq`; without a reason, this is a sample."""
        last = self.last_seqs.get(topic, 0)
        if seq > last:
            self.last_seqs[topic] = seq
            if reason:
                self.found.append((self.epoch, topic, last + 1, seq, reason))
