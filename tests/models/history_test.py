#!/usr/bin/env python3
"""History (gateway/src/line/history_buffer.hpp, gateway/src/line/history_buffer.cpp): a sample is read whole, or it was
kept before it was overwritten."""

import unittest

from explorer import ACQUIRE, RELAXED, RELEASE, Model, ModelTest, load, store

SAMPLES = 2


def history(claim=RELEASE, words=RELEASE, written=RELEASE, see_written=ACQUIRE, see_words=ACQUIRE, see_claim=ACQUIRE,
            is_claimed=True):
    """A history of one sample with two words, which both have the number of the sample. Each sample is kept before the
    next one overwrites it: the place `kept` has how many are."""
    def writer():
        for number in range(1, SAMPLES + 1):
            yield store("kept", number - 1, RELAXED)  # sweep()
            if is_claimed:
                yield store("claimed", number, claim)
            yield store("word 0", number, words)
            yield store("word 1", number, words)
            yield store("written", number, written)

    def reader():
        position = (yield load("written", see_written, until=lambda end: end > 0)) - 1
        first = yield load("word 0", see_words)
        second = yield load("word 1", see_words)
        claimed = yield load("claimed", see_claim)
        if claimed - 1 <= position:
            assert (first, second) == (position + 1, position + 1), f"{first} and {second} at {position}"
        else:
            assert (yield load("kept", ACQUIRE)) > position, f"position {position} is neither held nor kept"

    return Model({"kept": 0, "claimed": 0, "word 0": 0, "word 1": 0, "written": 0}, [writer, reader])


class History(ModelTest):
    def test_a_sample_is_read_whole_or_is_kept(self):
        self.check_holds(history())

    def test_samples_must_be_claimed_before_they_are_written(self):
        self.check_breaks(history(is_claimed=False), "at 0")

    def test_each_weaker_memory_order_of_the_words_gives_torn_samples(self):
        for order in ("words", "written", "see_written", "see_words"):
            with self.subTest(order):
                self.check_breaks(history(**{order: RELAXED}), "at 0")

    def test_a_weaker_memory_order_of_the_claim_loses_kept_samples(self):
        for order in ("claim", "see_claim"):
            with self.subTest(order):
                self.check_breaks(history(**{order: RELAXED}), "neither held nor kept")


if __name__ == "__main__":
    unittest.main()
