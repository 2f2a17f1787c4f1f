#!/usr/bin/env python3
"""SequenceLock: a reader gets the values of one change, never of two.

Files: core/include/core/sequence_lock.hpp and its users core/include/core/ledger.hpp, core/src/ledger/ledger.cpp,
core/include/core/drop_record.hpp, core/src/ledger/drop_record.cpp, device/src/sampler_device.hpp,
device/src/sampler_device.cpp."""

import unittest

from explorer import ACQUIRE, RELAXED, RELEASE, Model, ModelTest, load, store


def lock(values=RELEASE, commit=RELEASE, see_version=ACQUIRE, see_values=ACQUIRE, begin=True, check=True):
    """One attempt of read() is enough: another one is independent of it."""
    def writer():
        for change in (1, 2):
            if begin:
                yield store("version", 2 * change - 1, RELAXED)
            yield store("first", change, values)
            yield store("second", change, values)
            yield store("version", 2 * change, commit)

    def reader():
        before = yield load("version", see_version, until=lambda version: version % 2 == 0)
        first = yield load("first", see_values)
        second = yield load("second", see_values)
        if not check or (yield load("version", RELAXED)) == before:
            assert (first, second) == (before // 2, before // 2), f"{first} and {second} at version {before}"

    return Model({"version": 0, "first": 0, "second": 0}, [writer, reader])


def progress(reach=RELEASE, see_reached=ACQUIRE, commit=RELEASE, see_version=ACQUIRE):
    """ChannelProgress, of which reach() needs no begin() and commit(): only skip_to() changes two values. Sample 2 is
    missing."""
    def writer():
        yield store("reached", 1, reach)
        yield store("version", 1, RELAXED)  # skip_to()
        yield store("missing", 1, RELEASE)
        yield store("reached", 2, RELEASE)
        yield store("version", 2, commit)
        yield store("reached", 3, reach)

    def reader():
        before = yield load("version", see_version, until=lambda version: version % 2 == 0)
        missing = yield load("missing", ACQUIRE)
        reached = yield load("reached", see_reached)
        if (yield load("version", RELAXED)) == before:
            assert missing == (1 if reached >= 2 else 0), f"{missing} are missing up to {reached}"

    return Model({"version": 0, "missing": 0, "reached": 0}, [writer, reader])


class SequenceLock(ModelTest):
    def test_a_reader_gets_the_values_of_the_version_that_it_read(self):
        self.check_holds(lock())

    def test_the_version_must_be_odd_during_a_change_and_must_be_read_again(self):
        self.check_breaks(lock(begin=False), "at version")
        self.check_breaks(lock(check=False), "at version")

    def test_each_weaker_memory_order_gives_values_of_two_changes(self):
        for order in ("values", "commit", "see_version", "see_values"):
            with self.subTest(order):
                self.check_breaks(lock(**{order: RELAXED}), "at version")


class ChannelProgress(ModelTest):
    def test_the_missing_samples_are_those_up_to_the_number_reached(self):
        self.check_holds(progress())

    def test_each_weaker_memory_order_leaves_out_a_missing_sample(self):
        for order in ("reach", "see_reached", "commit", "see_version"):
            with self.subTest(order):
                self.check_breaks(progress(**{order: RELAXED}), "are missing up to")


if __name__ == "__main__":
    unittest.main()
