#!/usr/bin/env python3
"""Data that does not change after it was published: a thread that finds it, finds it complete.

Files that publish a number, a pointer or a flag: core/include/core/channel_blocks.hpp (whose readers know the id from
core/include/core/channel_table.hpp, core/src/samples/channel_table.cpp or a queue), core/include/core/bounded_queue.hpp
(the list of producers), core/src/ledger/ledger.cpp (the page of a device), device/include/device/sampler.hpp,
device/src/sampler_change.cpp (the names of devices), gateway/src/durable/sample_reader.hpp (a page that arrived),
gateway/src/rest/event_streams.hpp (the end of the samples), gateway/src/rest/status_cache.hpp (a change),
tools/perf_tool/count_allocations.cpp, tools/perf_tool/pipeline/load.hpp, tools/perf_tool/transport/harness.hpp."""

import unittest

from explorer import ACQUIRE, RELAXED, RELEASE, Model, ModelTest, exchange, load, rmw, store, touch


def blocks(publish=RELEASE, see_size=ACQUIRE):
    """ChannelBlocks: the pointer to the block is relaxed, because the size publishes it."""
    def adder():
        yield store("block", "allocated", RELAXED)  # make_room()
        yield touch("data")  # begin()
        yield store("size", 1, publish)

    def user():
        yield load("size", see_size, until=lambda size: size == 1)
        assert (yield load("block", RELAXED)) == "allocated", "no block"
        yield touch("data")

    return Model({"block": None, "data": None, "size": 0}, [adder, user])


def producers(publish=RELEASE, see_next=ACQUIRE, wake=RELEASE, clear=ACQUIRE):
    """The list of producers of a BoundedQueue. A thread adds a producer and pushes an item; the consumer, which was
    woken for another reason, finds it then or after the next wake-up."""
    def producer():
        yield touch("producer")
        yield store("next", 1, publish)  # add_producer()
        yield store("tail", 1, RELEASE)
        if not (yield exchange("pending", True, wake)):
            yield rmw("descriptor", lambda _: 1, RELEASE)

    def consumer():
        while True:
            yield exchange("descriptor", 0, ACQUIRE, until=lambda count: count > 0)
            yield exchange("pending", False, clear)
            if (yield load("next", see_next)):  # pop_round()
                yield touch("producer")
                if (yield load("tail", ACQUIRE)):
                    yield store("taken", True, RELAXED)
                    return

    return Model({"producer": None, "next": 0, "tail": 0, "pending": True, "descriptor": 1, "taken": False},
                 [producer, consumer])


class Publication(ModelTest):
    def test_the_data_of_a_known_channel_is_complete(self):
        self.check_holds(blocks())

    def test_each_weaker_memory_order_hides_the_block(self):
        for order in ("publish", "see_size"):
            with self.subTest(order):
                self.check_breaks(blocks(**{order: RELAXED}), "no block")


class Producers(ModelTest):
    def test_the_items_of_a_new_producer_are_taken(self):
        self.check_holds(producers())

    def test_each_weaker_memory_order_of_the_list_is_a_race(self):
        for order in ("publish", "see_next"):
            with self.subTest(order):
                self.check_breaks(producers(**{order: RELAXED}), "consumer races for producer")

    def test_a_weaker_memory_order_of_the_wake_up_hides_the_producer(self):
        for order in ("wake", "clear"):
            with self.subTest(order):
                self.check_breaks(producers(**{order: RELAXED}), "consumer sleeps forever")


if __name__ == "__main__":
    unittest.main()
