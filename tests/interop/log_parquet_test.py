"""Parquet files of gateway_log, read with pyarrow and DuckDB.

Run by ctest with the folder of the tools in TELEGATE_CHECKERS; the test continues in the Python that has both.
"""

import datetime
import os
import sys
import unittest

PYTHON = os.path.join(os.environ["TELEGATE_CHECKERS"], "python", "bin", "python3")
if not os.path.exists(PYTHON):
    print("skipped: no pyarrow and DuckDB (tools/fetch_checkers.sh installs them)")
    sys.exit(77)
if sys.prefix == sys.base_prefix:
    os.execv(PYTHON, [PYTHON, "-B", *sys.argv])

import duckdb
import pyarrow
import pyarrow.parquet

from log_fixture import EPOCHS, GAP_SAMPLES, TOPICS, LogTest, expected_seqs, expected_value

READINGS = 3_000
COLUMNS = ["epoch_ms", "topic", "seq", "time_utc_ns", "value", "value_integer", "value_text", "type", "quality", "flags",
           "unit"]
TYPES = {"maker/real": "real", "maker/integer": "integer", "maker/boolean": "boolean", "maker/text": "text",
         "maker/failing": "none"}


def expected_rows(readings):
    for epoch in EPOCHS:
        for seq in expected_seqs(readings):
            for topic in TOPICS:
                value = expected_value(topic, seq)
                is_number = isinstance(value, (int, float))
                yield (epoch, topic, seq, epoch * 1_000_000 + seq * 1_000_000 + 7, float(value) if is_number else None,
                       value if topic == "maker/integer" else None, value if topic == "maker/text" else None,
                       TYPES[topic], "bad" if value is None else "good", 2 if topic == "maker/boolean" else 0,
                       "Cel" if topic == "maker/real" else "")


class Parquet(LogTest):
    def check_all(self, path, readings):
        table = pyarrow.parquet.read_table(path)
        self.assertEqual(table.column_names, COLUMNS)
        self.assertEqual(table.schema.field("time_utc_ns").type, pyarrow.timestamp("ns", tz="UTC"))
        times = table.column("time_utc_ns").cast(pyarrow.int64())
        table = table.set_column(COLUMNS.index("time_utc_ns"), "time_utc_ns", times)
        expected = list(zip(*expected_rows(readings)))
        for name, column in zip(COLUMNS, expected):
            self.assertEqual(table.column(name).to_pylist(), list(column), name)

    def test_every_sample_is_in_the_file(self):
        self.make(READINGS)
        for compression in ("zstd", "none"):
            with self.subTest(compression):
                path = self.export("parquet", "--compression", compression)
                self.check_all(path, READINGS)
                column = pyarrow.parquet.ParquetFile(path).metadata.row_group(0).column(0)
                self.assertEqual(column.compression, {"zstd": "ZSTD", "none": "UNCOMPRESSED"}[compression])

    def test_a_large_file_has_several_row_groups_with_statistics(self):
        readings = 110_000
        self.make(readings)
        path = self.export("parquet")
        metadata = pyarrow.parquet.ParquetFile(path).metadata
        self.assertEqual(metadata.num_rows, 2 * len(TOPICS) * (readings - GAP_SAMPLES))
        self.assertEqual(metadata.num_row_groups, 2)
        self.assertEqual(metadata.row_group(0).num_rows, 1_048_576)
        for group in range(metadata.num_row_groups):
            seq = metadata.row_group(group).column(COLUMNS.index("seq")).statistics
            read = pyarrow.parquet.ParquetFile(path).read_row_group(group, ["seq"]).column("seq").to_pylist()
            self.assertEqual((seq.min, seq.max, seq.null_count), (min(read), max(read), 0))
        rows = duckdb.sql(f"select epoch_ms, count(*), count(distinct seq) from '{path}' where topic = 'maker/text' "
                          "group by all order by epoch_ms").fetchall()
        self.assertEqual(rows, [(epoch, readings - GAP_SAMPLES, readings - GAP_SAMPLES) for epoch in EPOCHS])

    def test_duckdb_reads_the_same(self):
        self.make(READINGS)
        path = self.export("parquet")
        rows = duckdb.sql(f"select * replace (epoch_ns(time_utc_ns) as time_utc_ns) from '{path}'").fetchall()
        self.assertEqual(rows, list(expected_rows(READINGS)))
        since = datetime.datetime.fromtimestamp(EPOCHS[1] / 1000, datetime.timezone.utc).isoformat()
        later = duckdb.sql(f"select count(*) from '{path}' where time_utc_ns >= '{since}'").fetchall()
        self.assertEqual(later, [(len(TOPICS) * (READINGS - GAP_SAMPLES),)])

    def test_an_export_of_nothing_is_a_valid_file(self):
        self.make(10)
        path = self.export("parquet", "--channel", "none/")
        self.assertEqual(pyarrow.parquet.read_table(path).num_rows, 0)
        self.assertEqual(duckdb.sql(f"select count(*) from '{path}'").fetchall(), [(0,)])

    def test_channels_and_times_are_selected(self):
        self.make(READINGS)
        path = self.export("parquet", "--channel", "maker/real", "--since", "2026-11-19T00:00:00Z")
        rows = duckdb.sql(f"select distinct epoch_ms, topic from '{path}'").fetchall()
        self.assertEqual(rows, [(EPOCHS[1], "maker/real")])


if __name__ == "__main__":
    unittest.main(verbosity=2)
