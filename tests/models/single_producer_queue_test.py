#!/usr/bin/env python3
"""SingleProducerQueue (core/include/core/single_producer_queue.hpp): one side at a time uses an item or a block."""

import unittest

from explorer import ACQUIRE, RELAXED, RELEASE, Model, ModelTest, exchange, load, rmw, store, touch

ITEMS = 3
CAPACITY = 2


def queue(publish=RELEASE, see_tail=ACQUIRE, return_block=RELEASE, reuse=ACQUIRE):
    """Blocks of one item, so that each item needs one. Block 0 counts as taken at the start.

    The orders of the head have no mutants here. They make sure that the producer finds the blocks of the items that it
    sees taken, but the explorer's read-modify-writes always find the newest ones."""
    def producer():
        tail_block, blocks, spares = 0, 1, ()
        for number in range(1, ITEMS + 1):
            if number > CAPACITY:
                yield load("head", ACQUIRE, until=lambda head, least=number - CAPACITY: head >= least)
            if not spares:
                spares = yield exchange("returned", (), reuse)
            if spares:
                block, spares = spares[0], spares[1:]
                yield touch(f"next of {block}")
            else:
                block, blocks = blocks, blocks + 1
            yield touch(f"next of {tail_block}")
            yield touch(f"item of {block}")
            yield store(f"block of {number}", block, RELAXED)  # the target of `next` in the tail
            yield store("tail", number, publish)
            tail_block = block

    def consumer():
        head_block = 0
        for number in range(1, ITEMS + 1):
            yield load("tail", see_tail, until=lambda tail, wanted=number: tail >= wanted)
            yield touch(f"next of {head_block}")
            yield rmw("returned", lambda blocks, mine=head_block: (mine, *blocks), return_block)
            head_block = yield load(f"block of {number}", RELAXED)
            yield touch(f"item of {head_block}")
            yield store("head", number, RELEASE)

    places = {"tail": 0, "head": 0, "returned": ()}
    for number in range(ITEMS + 1):
        places |= {f"block of {number}": number, f"next of {number}": None, f"item of {number}": None}
    return Model(places, [producer, consumer])


class SingleProducerQueue(ModelTest):
    def test_one_side_at_a_time_uses_an_item_or_a_block(self):
        self.check_holds(queue())

    def test_each_weaker_memory_order_is_a_race(self):
        for order in ("publish", "see_tail", "return_block", "reuse"):
            with self.subTest(order):
                self.check_breaks(queue(**{order: RELAXED}), "races for")


if __name__ == "__main__":
    unittest.main()
