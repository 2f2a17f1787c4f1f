"""CSV files of gateway_log, read by DuckDB and pyarrow as docs/log.md shows.

Run by ctest with the folder of the tools in TELEGATE_CHECKERS; the test continues in the Python that has both.
"""

import os
import pathlib
import re
import sys
import unittest

PYTHON = os.path.join(os.environ["TELEGATE_CHECKERS"], "python", "bin", "python3")
if not os.path.exists(PYTHON):
    print("skipped: no pyarrow and DuckDB (tools/fetch_checkers.sh installs them)")
    sys.exit(77)
if sys.prefix == sys.base_prefix:
    os.execv(PYTHON, [PYTHON, "-B", *sys.argv])

import duckdb
import pyarrow.parquet

from log_fixture import EPOCHS, TOPICS, LogTest, expected_seqs, expected_value

PAGE = pathlib.Path(os.environ["TELEGATE_SOURCE_DIR"], "docs/log.md").read_text(encoding="utf-8")
READINGS = 3_000


def example(language):
    """Returns the only example of the page in this language."""
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)
    return text


def value_text(topic, seq):
    value = expected_value(topic, seq)
    return {bool: str(value).lower(), type(None): ""}.get(type(value), str(value).removesuffix(".0"))


class Csv(LogTest):
    def setUp(self):
        super().setUp()
        self.make(READINGS)
        self.export("csv").rename(self.scratch / "day.csv")
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.scratch)

    def test_duckdb_reads_the_numbers(self):
        seqs = expected_seqs(READINGS)
        expected = [(topic, sum(expected_value(topic, seq) for seq in seqs) / len(seqs))
                    for topic in ("maker/integer", "maker/real")]
        found = duckdb.sql(example("sql")).fetchall()
        self.assertEqual([topic for topic, _ in found], [topic for topic, _ in expected])
        for (topic, mean), (_, expected_mean) in zip(found, expected):
            self.assertAlmostEqual(mean / expected_mean, 1, places=12, msg=topic)

    def test_pyarrow_converts_every_sample_to_parquet(self):
        exec(compile(example("python"), "docs/log.md", "exec"), {})  # pylint: disable=exec-used
        rows = pyarrow.parquet.read_table("day.parquet").to_pylist()
        self.assertEqual([(row["epoch_ms"], row["seq"], row["topic"], row["value"]) for row in rows],
                         [(epoch, seq, topic, value_text(topic, seq))
                          for epoch in EPOCHS for seq in expected_seqs(READINGS) for topic in TOPICS])
        self.assertEqual({row["topic"]: row["type"] for row in rows},
                         {topic: "none" if topic == "maker/failing" else topic.partition("/")[2] for topic in TOPICS})


if __name__ == "__main__":
    unittest.main(verbosity=2)
