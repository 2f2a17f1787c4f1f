#!/usr/bin/env python3
"""Ledger (core/include/core/ledger.hpp, core/src/ledger/ledger.cpp): both sides are read in the right order, and the
pump finds every drop. A SequenceLock with one value stands for each page, see sequence_lock_test.py."""

import unittest

from explorer import ACQUIRE, RELAXED, RELEASE, Model, ModelTest, exchange, load, rmw, store


def sides(count=RELEASE, push=RELEASE, pop=ACQUIRE, take=RELEASE, see_taken=ACQUIRE, consumer_first=True):
    """cut() and counts_of(): a reader never sees more samples taken than captured."""
    def sampler():
        for sample in (1, 2):
            yield store("captured", sample, count)
            yield store("tail", sample, push)

    def pump():
        for sample in (1, 2):
            yield load("tail", pop, until=lambda tail, wanted=sample: tail >= wanted)
            yield store("taken", sample, take)

    def reader():
        captured = None if consumer_first else (yield load("captured", ACQUIRE))
        taken = yield load("taken", see_taken)
        captured = (yield load("captured", ACQUIRE)) if consumer_first else captured
        assert captured >= taken, f"{taken} taken of {captured}"

    return Model({"captured": 0, "tail": 0, "taken": 0}, [sampler, pump, reader])


def agreement(channel=RELEASE, see_channel=ACQUIRE, device=RELEASE, see_device=ACQUIRE):
    """channels_agree(): the sum of the channels is between two reads of the device, except for a batch that is being
    counted. Both sides count the channels first."""
    def sampler():
        for sample in (1, 2):
            yield store("channel", sample, channel)
            yield store("device", sample, device)

    def reader():
        before = yield load("device", see_device)
        of_channel = yield load("channel", see_channel)
        after = yield load("device", see_device)
        assert before <= of_channel <= after + 1, f"{of_channel} is not between {before} and {after}"

    return Model({"channel": 0, "device": 0}, [sampler, reader])


def marks(mark=RELEASE, report=RELEASE, see_report=ACQUIRE, take_mark=ACQUIRE, mark_by=exchange, marks_first=True,
          takes_first=True):
    """dropped_at_queue() and each_newly_dropped(): two channels of one block have drops, sampled by two threads."""
    def sampler(name):
        def run():
            yield store(f"dropped {name}", 1, RELEASE)  # DropRecord::add()
            if marks_first:
                yield mark_by("marked", True, mark)
            yield rmw("reported", lambda reported: reported + 1, report)
            if not marks_first:
                yield mark_by("marked", True, mark)
        run.__name__ = f"sampler of {name}"
        return run

    def pump():
        seen, found = 0, {}
        while seen < 2:
            seen = yield load("reported", see_report, until=lambda reported, known=seen: reported != known)
            if not (yield load("marked", RELAXED)):
                continue
            if takes_first:
                yield exchange("marked", False, take_mark)
            for name in "ab":
                found[name] = yield load(f"dropped {name}", ACQUIRE)
            if not takes_first:
                yield exchange("marked", False, take_mark)
        assert all(found.get(name) for name in "ab"), "a drop was not found"

    return Model({"dropped a": 0, "dropped b": 0, "marked": False, "reported": 0},
                 [sampler("a"), sampler("b"), pump])


class Sides(ModelTest):
    def test_no_more_samples_are_taken_than_captured(self):
        self.check_holds(sides())

    def test_the_side_of_the_pump_must_be_read_first(self):
        self.check_breaks(sides(consumer_first=False), "taken of")

    def test_each_weaker_memory_order_shows_a_sample_that_was_not_captured(self):
        for order in ("push", "pop", "take", "see_taken"):
            with self.subTest(order):
                self.check_breaks(sides(**{order: RELAXED}), "taken of")


class Agreement(ModelTest):
    def test_the_channels_agree_with_the_device(self):
        self.check_holds(agreement())

    def test_each_weaker_memory_order_is_a_difference(self):
        for order in ("channel", "see_channel", "device", "see_device"):
            with self.subTest(order):
                self.check_breaks(agreement(**{order: RELAXED}), "is not between")


class Marks(ModelTest):
    def test_the_pump_finds_every_drop(self):
        self.check_holds(marks())

    def test_a_drop_must_be_marked_before_it_is_reported_and_the_mark_be_taken_before_it_is_read(self):
        self.check_breaks(marks(marks_first=False), "a drop was not found")
        self.check_breaks(marks(takes_first=False), "a drop was not found")

    def test_a_store_instead_of_the_exchange_hides_the_drop_of_another_thread(self):
        self.check_breaks(marks(mark_by=store), "a drop was not found")

    def test_each_weaker_memory_order_hides_a_drop(self):
        for order in ("mark", "report", "see_report", "take_mark"):
            with self.subTest(order):
                self.check_breaks(marks(**{order: RELAXED}), "a drop was not found")


if __name__ == "__main__":
    unittest.main()
