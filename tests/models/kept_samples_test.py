#!/usr/bin/env python3
"""KeptSamples (gateway/src/line/kept_samples.hpp, gateway/src/line/kept_samples.cpp): a reader gets whole samples with
their positions, while the writer adds samples and moves others."""

import unittest

from explorer import ACQUIRE, RELAXED, RELEASE, Model, ModelTest, load, store


def kept(words=RELEASE, set_count=RELEASE, commit=RELEASE, see_version=ACQUIRE, see_count=ACQUIRE, see_words=ACQUIRE,
         begin=True, check=True):
    """Sample N consists of the word N and has the position N. Samples are added without the SequenceLock."""
    def put(index, sample):
        yield store(f"word {index}", sample, words)
        yield store(f"position {index}", sample, words)

    def writer():
        for sample in (1, 2):  # keep()
            yield from put(sample - 1, sample)
            yield store("count", sample, set_count)
        if begin:
            yield store("version", 1, RELAXED)
        yield from put(0, 2)  # compact() drops sample 1 and moves sample 2
        yield store("count", 1, set_count)
        yield store("version", 2, commit)
        yield from put(1, 3)  # keep()
        yield store("count", 2, set_count)

    def reader():
        before = yield load("version", see_version, until=lambda version: version % 2 == 0)
        count = yield load("count", see_count)
        read = []
        for index in range(count):
            position = yield load(f"position {index}", see_words)
            read.append((position, (yield load(f"word {index}", see_words))))
        if not check or (yield load("version", RELAXED)) == before:
            first = 1 if before == 0 else 2
            assert read == [(sample, sample) for sample in range(first, first + count)], f"{read} at version {before}"

    return Model({"version": 0, "count": 0, "word 0": 0, "word 1": 0, "position 0": 0, "position 1": 0},
                 [writer, reader])


class KeptSamples(ModelTest):
    def test_samples_are_read_whole_and_in_order(self):
        self.check_holds(kept())

    def test_samples_must_be_moved_under_the_lock(self):
        self.check_breaks(kept(begin=False), "at version")
        self.check_breaks(kept(check=False), "at version")

    def test_each_weaker_memory_order_gives_a_torn_sample(self):
        for order in ("words", "set_count", "commit", "see_version", "see_count", "see_words"):
            with self.subTest(order):
                self.check_breaks(kept(**{order: RELAXED}), "at version")


if __name__ == "__main__":
    unittest.main()
