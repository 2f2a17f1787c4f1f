#!/usr/bin/env python3
"""A PendingWake (core/include/core/waker.hpp) of a call that is posted: HttpServer::wake_streams()
(gateway/src/http/http_server.cpp), where an open event stream gets every sample, and Shards::calls_of()
(core/src/shards/shards.cpp), where the publisher sees all progress of a shard."""

import unittest

from explorer import ACQ_REL, ACQUIRE, RELAXED, RELEASE, Model, ModelTest, exchange, load, store


def posted_wake(samples=2, loads_first=False, set_order=RELEASE, clear_by=exchange, clear_order=ACQUIRE,
                clears_first=True):
    """One open stream and the I/O thread. The start of a stream is not modeled: it relies on a time, the first
    stream_interval."""
    def pump():
        for number in range(1, samples + 1):
            yield store("history", number, RELEASE)  # History::write()
            if loads_first and (yield load("wake_pending")):
                continue
            if not (yield exchange("wake_pending", True, set_order)):
                yield exchange("posted", True, ACQ_REL)  # asio::post()

    def io():
        while True:
            yield exchange("posted", False, ACQ_REL, until=bool)  # the posted call sets a time, at which sweep() runs
            if clears_first:
                yield clear_by("wake_pending", False, clear_order)
            yield store("pulled", (yield load("history", ACQUIRE)))  # SampleStream::pull()
            if not clears_first:
                yield clear_by("wake_pending", False, clear_order)

    return Model({"history": 0, "wake_pending": False, "posted": False, "pulled": 0},
                 [pump, io], servants=("io",), at_end=lambda newest: newest["pulled"] == samples)


class PostedWake(ModelTest):
    def test_every_sample_is_pulled(self):
        self.check_holds(posted_wake())

    def test_a_load_before_the_exchange_leaves_a_sample_behind(self):
        self.check_breaks(posted_wake(loads_first=True), "at_end does not hold")

    def test_a_store_instead_of_the_exchange_leaves_a_sample_behind(self):
        self.check_breaks(posted_wake(clear_by=store, clear_order=RELEASE), "at_end does not hold")

    def test_each_weaker_memory_order_leaves_a_sample_behind(self):
        for order in ("set_order", "clear_order"):
            with self.subTest(order):
                self.check_breaks(posted_wake(**{order: RELAXED}), "at_end does not hold")

    def test_a_flag_that_is_cleared_after_the_pull_leaves_a_sample_behind(self):
        self.check_breaks(posted_wake(clears_first=False), "at_end does not hold")


if __name__ == "__main__":
    unittest.main()
