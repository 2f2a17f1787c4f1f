#!/usr/bin/env python3
"""HttpServer::wake_streams() (gateway/src/http/http_server.cpp): an open event stream gets every sample."""

import unittest

from explorer import ACQ_REL, ACQUIRE, RELEASE, Model, ModelTest, exchange, load, rmw, store, touch


def server(samples=2, loads_first=False, clear_by=exchange, clears_first=True, remembers=True):
    """One open stream and two workers in HttpServer::run(). `streams_due` is whether a time is set; it may expire at
    any step. The start of a stream is not modeled: it relies on a time, the first stream_interval."""
    def pump():
        for number in range(1, samples + 1):
            yield store("history", number, RELEASE)  # History::write()
            if loads_first and (yield load("wake_pending")):
                continue
            if not (yield exchange("wake_pending", True)):
                yield store("wake_event", True, RELEASE)  # eventfd_write(), edge-triggered: one worker wakes up

    def serve():  # HttpServer::serve(); HttpPlaces::take() and give_back() hold a mutex
        busy, _ = yield rmw("place", lambda place: (True, place[0] and remembers), ACQ_REL)
        again = not busy
        while again:
            yield touch("stream")
            yield store("pulled", (yield load("history", ACQUIRE)))  # SampleStream::pull()
            _, again = yield rmw("place", lambda place: (place[1], False), ACQ_REL)

    def worker():
        while True:
            if not (yield load("streams_due")):  # wait_ms()
                yield exchange("wake_event", False, ACQUIRE, until=bool)  # epoll_wait()
                yield exchange("streams_due", True)  # put_off_streams()
            if (yield exchange("streams_due", False)):  # serve_streams()
                if clears_first:
                    yield clear_by("wake_pending", False)
                yield from serve()
                if not clears_first:
                    yield clear_by("wake_pending", False)

    return Model({"history": 0, "wake_pending": False, "wake_event": False, "streams_due": False,
                  "place": (False, False), "stream": None, "pulled": 0},
                 [pump, worker, worker], servants=("worker",), at_end=lambda newest: newest["pulled"] == samples)


class WakeStreams(ModelTest):
    def test_every_sample_is_pulled_and_only_one_worker_at_a_time_uses_the_stream(self):
        self.check_holds(server())

    def test_a_load_before_the_exchange_leaves_a_sample_behind(self):
        self.check_breaks(server(loads_first=True), "at_end does not hold")

    def test_a_store_instead_of_the_exchange_leaves_a_sample_behind(self):
        self.check_breaks(server(clear_by=store), "at_end does not hold")

    def test_a_worker_that_clears_the_flag_after_it_has_pulled_leaves_a_sample_behind(self):
        self.check_breaks(server(clears_first=False), "at_end does not hold")

    def test_a_busy_stream_that_does_not_remember_a_wake_up_leaves_a_sample_behind(self):
        self.check_breaks(server(remembers=False), "at_end does not hold")


if __name__ == "__main__":
    unittest.main()
