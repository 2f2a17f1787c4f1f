"""Reads a log directory with the reader of docs/log-format.md and compares the samples with those that were written.

Run by ctest with the path of the compiled tests/examples/write_log.cpp in TELEGATE_WRITE_LOG.
"""

import io
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

from log_page import BLOCKS, PAGE, READER, Gaps, page, read, read_segments


def expected_line(line):
    """Returns what the reader prints for a sample that write_log prints."""
    epoch, topic, seq, time, kind, value = line.split("\t")
    convert = {"none": lambda _: None, "real": float.fromhex, "integer": int, "boolean": lambda text: text == "1",
               "text": lambda text: bytes.fromhex(text).decode()}
    return f"{epoch} {topic} {seq} {time} {convert[kind](value)!r}"


def joined(gaps):
    """Returns gaps in order; adjacent ones with the same reason are joined."""
    result = []
    for epoch, topic, first, last, reason in sorted(gaps):
        if result and (*result[-1][:2], result[-1][3] + 1, result[-1][4]) == (epoch, topic, first, reason):
            first = result.pop()[2]
        result.append((epoch, topic, first, last, reason))
    return result


class LogFormatTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.log = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()), "log")
        written = subprocess.run([os.environ["TELEGATE_WRITE_LOG"], cls.log], check=True, timeout=60,
                                 stdout=subprocess.PIPE, text=True).stdout
        cls.expected = [expected_line(line) for line in written.splitlines() if not line.startswith("gap\t")]
        cls.gaps = [(int(epoch), topic, int(first), int(last), reason) for epoch, topic, first, last, reason in
                    re.findall(r"^gap\t(.*)\t(.*)\t(.*)\t(.*)\t(.*)$", written, re.M)]

    def copy_of_log(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        return shutil.copytree(self.log, folder / "a [log]")

    def test_the_reader_of_the_page_is_short(self):
        self.assertLessEqual(max(len(block.splitlines()) for block in BLOCKS), 40)
        self.assertLessEqual(max(map(len, PAGE.splitlines())), 120)

    def test_the_command_of_the_page_extracts_the_reader(self):
        command = re.search(r"^\$ (sed .*) docs/log-format\.md > read_log\.py$", PAGE, re.M).group(1)
        extracted = subprocess.run(["bash", "-c", command], input=PAGE, stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(extracted.stdout, READER)

    def test_the_reader_finds_every_sample_with_its_value(self):
        folder = self.copy_of_log()
        for foreign in ("lock", "notes.txt", "00000000000000000001.tgl.damaged", "1.tgl"):
            (folder / foreign).write_bytes(b"not a segment")
        self.assertEqual(read(folder), self.expected)

    def test_the_log_has_everything_that_the_page_describes(self):
        values = [line.split(" ", 4)[4] for line in self.expected]
        for value in ("None", "nan", "-inf", "-0.0", "True", "False", "9223372036854775807", "'running'", "20.01"):
            self.assertIn(value, values)
        self.assertEqual(len({line.split()[0] for line in self.expected}), 3, "epochs")
        self.assertEqual(len({line.split()[1] for line in self.expected}), 9, "channels")
        self.assertGreater(len(list(self.log.iterdir())), 5)

    def test_a_truncated_log_has_the_samples_of_its_intact_records(self):
        folder = self.copy_of_log()
        last = max(folder.glob("*.tgl"))
        data = last.read_bytes()
        lines_before = len(self.expected)
        for size in range(len(data), 0, -97):
            last.write_bytes(data[:size])
            lines = read(folder)
            self.assertEqual(lines, self.expected[:len(lines)], size)
            self.assertLessEqual(len(lines), lines_before)
            lines_before = len(lines)
        self.assertLess(lines_before, len(self.expected))

    def test_a_damaged_byte_never_changes_a_sample(self):
        folder = self.copy_of_log()
        first = min(folder.glob("*.tgl"))
        data = first.read_bytes()
        for place in range(0, len(data), 71):
            first.write_bytes(data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1:])
            rest = iter(self.expected)
            lines = read(folder)
            self.assertGreater(len(lines), 0)
            self.assertTrue(all(line in rest for line in lines), place)

    def test_footers_are_as_the_page_describes(self):
        with_footer = [segment for segment in read_segments(self.log) if segment.footer]
        self.assertGreater(len(with_footer), 2)
        for segment in with_footer:
            footer = segment.footer
            earliest, latest, head_bytes, checksum, magic = struct.unpack("<qqI4s8s", segment.data[-32:])
            self.assertEqual((magic, checksum), (b"TGFOOT\r\n", page.crc32c(segment.data[-32:-12])))
            self.assertEqual(struct.unpack_from("<4xI4xH", segment.data, len(segment.data) - head_bytes), (head_bytes, 4))
            self.assertEqual(len(footer.blocks), len(segment.blocks), "damaged blocks are listed as well")
            for block, entry in zip(segment.blocks, footer.blocks):
                self.assertTrue(block is None or block.entry == entry)
            self.assertEqual(footer.end_position, footer.blocks[-1][1] + footer.blocks[-1][2])
            with_samples = [entry for entry in footer.blocks if entry[3] > 0]
            self.assertEqual((earliest, latest), (min(entry[4] for entry in with_samples),
                                                  max(entry[5] for entry in with_samples)))
            self.assertEqual(footer.definitions, segment.channels)
            for number, samples, first, last in footer.channels:
                ranges = [each for block in segment.blocks if block for each in block.channels if each[0] == number]
                self.assertLessEqual(first, ranges[0][1])
                self.assertEqual(last, ranges[-1][2])
                self.assertLessEqual(samples, last - first + 1)

    def test_gaps_are_as_the_page_describes(self):
        found = joined(Gaps(self.log).found)
        self.assertEqual(found, joined(self.gaps))
        self.assertEqual({gap[4] for gap in found}, {"queue_overflow", "log_slow", "crash", "damaged", "unknown"})

    def test_a_log_without_its_oldest_segment_has_gaps_of_retention(self):
        folder = self.copy_of_log()
        min(folder.iterdir()).unlink()
        gaps = [gap for gap in Gaps(folder).found if gap[4] == "retention"]
        self.assertEqual(len({topic for _, topic, *_ in gaps}), 9)
        self.assertEqual({first for _, _, first, *_ in gaps}, {1})

    def test_the_examples_of_the_page_are_right(self):
        self.assertEqual(page.crc32c(b"123456789"), struct.pack("<I", 0xE3069283))
        self.assertIn("`123456789` is `e3069283`", PAGE)
        varint = re.search(r"(\d+) is `([\da-f ]+)`\.\n\n\*\*zigzag", PAGE)
        self.assertEqual(page.varint(io.BytesIO(bytes.fromhex(varint.group(2)))), int(varint.group(1)))
        columns = re.findall(r"^\| ([-\d, ]+) \| `([\da-f ]+)` \|", PAGE, re.M)
        self.assertEqual(len(columns), 3)
        for text, column in columns:
            values = [int(value) for value in text.split(",")]
            self.assertEqual(page.integers(io.BytesIO(bytes.fromhex(column)), len(values)), values)


if __name__ == "__main__":
    unittest.main(verbosity=2)
