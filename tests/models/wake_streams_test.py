#!/usr/bin/env python3
"""HttpServer::wake_streams() (gateway/src/http/http_server.cpp): an open event stream gets every sample."""

import unittest

from explorer import ACQUIRE, RELEASE, Model, ModelTest, exchange, load, store


def server(samples=2, loads_first=False, clear_by=exchange, clears_first=True):
    """One open stream and the I/O thread. The start of a stream is not modeled: it relies on a time, the first
    stream_interval."""
    def pump():
        for number in range(1, samples + 1):
            yield store("history", number, RELEASE)  # History::write()
            if loads_first and (yield load("wake_pending")):
                continue
            if not (yield exchange("wake_pending", True)):
                yield store("posted", True, RELEASE)  # asio::post()

    def io():
        while True:
            yield exchange("posted", False, ACQUIRE, until=bool)  # the posted call sets a time, at which sweep() runs
            if clears_first:
                yield clear_by("wake_pending", False)
            yield store("pulled", (yield load("history", ACQUIRE)))  # SampleStream::pull()
            if not clears_first:
                yield clear_by("wake_pending", False)

    return Model({"history": 0, "wake_pending": False, "posted": False, "pulled": 0},
                 [pump, io], servants=("io",), at_end=lambda newest: newest["pulled"] == samples)


class WakeStreams(ModelTest):
    def test_every_sample_is_pulled(self):
        self.check_holds(server())

    def test_a_load_before_the_exchange_leaves_a_sample_behind(self):
        self.check_breaks(server(loads_first=True), "at_end does not hold")

    def test_a_store_instead_of_the_exchange_leaves_a_sample_behind(self):
        self.check_breaks(server(clear_by=store), "at_end does not hold")

    def test_a_flag_that_is_cleared_after_the_pull_leaves_a_sample_behind(self):
        self.check_breaks(server(clears_first=False), "at_end does not hold")


if __name__ == "__main__":
    unittest.main()
