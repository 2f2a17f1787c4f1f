#!/usr/bin/env python3
"""Pump::copy_last() (gateway/src/line/pump.cpp): a reader gets the last sample of a channel, never words of two."""

import unittest

from explorer import ACQUIRE, RELAXED, RELEASE, Model, ModelTest, load, store


def last_sample(words=RELEASE, commit=RELEASE, see_version=ACQUIRE, see_words=ACQUIRE, begin=True, check=True):
    """The version is the sequence number. Sample N consists of the words N. One attempt of copy_last() is enough."""
    def pump():
        for seq in (1, 2):
            if begin:
                yield store("seq", 0, RELAXED)
            yield store("time", seq, words)
            yield store("value", seq, words)
            yield store("seq", seq, commit)

    def reader():
        seq = yield load("seq", see_version)
        time = yield load("time", see_words)
        value = yield load("value", see_words)
        if seq != 0 and (not check or (yield load("seq", RELAXED)) == seq):
            assert (time, value) == (seq, seq), f"{time} and {value} of sample {seq}"

    return Model({"seq": 0, "time": 0, "value": 0}, [pump, reader])


class LastSample(ModelTest):
    def test_a_sample_is_read_whole(self):
        self.check_holds(last_sample())

    def test_the_version_must_be_0_during_a_change_and_must_be_read_again(self):
        self.check_breaks(last_sample(begin=False), "of sample")
        self.check_breaks(last_sample(check=False), "of sample")

    def test_each_weaker_memory_order_gives_words_of_two_samples(self):
        for order in ("words", "commit", "see_version", "see_words"):
            with self.subTest(order):
                self.check_breaks(last_sample(**{order: RELAXED}), "of sample")


if __name__ == "__main__":
    unittest.main()
