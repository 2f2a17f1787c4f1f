#!/usr/bin/env python3
"""ChannelBlocks (core/include/core/channel_blocks.hpp): a thread that knows the id of a channel finds its data."""

import unittest

from explorer import ACQUIRE, RELAXED, RELEASE, Model, ModelTest, load, store, touch


def blocks(publish=RELEASE, see_size=ACQUIRE):
    def adder():
        yield store("block", "allocated", RELAXED)  # make_room()
        yield touch("data")  # begin()
        yield store("size", 1, publish)

    def user():
        yield load("size", see_size, until=lambda size: size == 1)
        assert (yield load("block", RELAXED)) == "allocated", "no block"
        yield touch("data")

    return Model({"block": None, "data": None, "size": 0}, [adder, user])


class ChannelBlocks(ModelTest):
    def test_the_data_of_a_known_channel_is_complete(self):
        self.check_holds(blocks())

    def test_each_weaker_memory_order_hides_the_block(self):
        for order in ("publish", "see_size"):
            with self.subTest(order):
                self.check_breaks(blocks(**{order: RELAXED}), "no block")


if __name__ == "__main__":
    unittest.main()
