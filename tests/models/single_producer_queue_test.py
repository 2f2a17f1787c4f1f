#!/usr/bin/env python3
"""SingleProducerQueue (core/include/core/single_producer_queue.hpp, for each producer of
core/include/core/bounded_queue.hpp): one side at a time uses an item or a block, and sizes are right."""

import unittest

from explorer import ACQUIRE, RELAXED, RELEASE, Model, ModelTest, exchange, load, rmw, store, touch

ITEMS = 3


def queue(capacity=2, publish=RELEASE, see_tail=ACQUIRE, return_block=RELEASE, reuse=ACQUIRE, returns_first=True,
          sees_head_first=True):
    """Blocks of one item, so that each item needs one. Block 0 counts as taken at the start. The orders of the head,
    release and acquire, let the producer find the blocks of the items that it sees taken. Without them, each side could
    access the head too early. The mutants do so, because to the explorer a read-modify-write is never early."""
    def producer():
        tail_block, blocks, spares = 0, 1, ()
        for number in range(1, ITEMS + 1):
            if not spares and not sees_head_first:
                spares = yield exchange("returned", (), reuse)
            if number > capacity:
                yield load("head", ACQUIRE, until=lambda head, least=number - capacity: head >= least)
            if not spares and sees_head_first:
                spares = yield exchange("returned", (), reuse)
            if spares:
                block, spares = spares[0], spares[1:]
                yield touch(f"next of {block}")
            else:
                block, blocks = blocks, blocks + 1
                assert blocks <= capacity + 1, "more blocks than needed"
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
            if not returns_first:
                yield store("head", number, RELEASE)
            yield rmw("returned", lambda blocks, mine=head_block: (mine, *blocks), return_block)
            head_block = yield load(f"block of {number}", RELAXED)
            yield touch(f"item of {head_block}")
            if returns_first:
                yield store("head", number, RELEASE)

    places = {"tail": 0, "head": 0, "returned": ()}
    for number in range(ITEMS + 1):
        places |= {f"block of {number}": number, f"next of {number}": None, f"item of {number}": None}
    return Model(places, [producer, consumer])


def sizes(publish=RELEASE, see_tail=ACQUIRE, take=RELEASE, see_head=ACQUIRE, raises_first=True, checks_head=True):
    """exact_size() in another thread, and the high-water mark, which is raised before the items are published. The
    capacity is one item."""
    def producer():
        for number in range(1, ITEMS + 1):
            head = yield load("head", ACQUIRE, until=lambda head, least=number - 1: head >= least)
            if raises_first and number == 1:
                yield store("high water", number - head, RELAXED)
            yield store("tail", number, publish)
            if not raises_first and number == 1:
                yield store("high water", number - head, RELAXED)

    def consumer():
        for number in range(1, ITEMS + 1):
            yield load("tail", ACQUIRE, until=lambda tail, wanted=number: tail >= wanted)
            yield store("head", number, take)

    def reader():
        head = yield load("head", see_head)
        tail = yield load("tail", see_tail)
        if not checks_head or (yield load("head", see_head)) == head:
            assert 0 <= tail - head <= 1, f"{tail - head} items"
            assert tail - head <= (yield load("high water", RELAXED)), "more items than the high-water mark"

    return Model({"tail": 0, "head": 0, "high water": 0}, [producer, consumer, reader])


class SingleProducerQueue(ModelTest):
    def test_one_side_at_a_time_uses_an_item_or_a_block(self):
        self.check_holds(queue())

    def test_each_weaker_memory_order_is_a_race(self):
        for order in ("publish", "see_tail", "return_block", "reuse"):
            with self.subTest(order):
                self.check_breaks(queue(**{order: RELAXED}), "races for")

    def test_a_head_that_is_written_or_read_too_early_hides_an_empty_block(self):
        self.check_holds(queue(capacity=1))
        self.check_breaks(queue(capacity=1, returns_first=False), "more blocks than needed")
        self.check_breaks(queue(capacity=1, sees_head_first=False), "more blocks than needed")


class Sizes(ModelTest):
    def test_the_size_is_one_that_the_queue_can_have(self):
        self.check_holds(sizes())

    def test_the_head_must_be_read_again(self):
        self.check_breaks(sizes(checks_head=False), "items")

    def test_the_high_water_mark_must_be_raised_first(self):
        self.check_breaks(sizes(raises_first=False), "high-water mark")

    def test_each_weaker_memory_order_gives_a_wrong_size(self):
        for order in ("publish", "see_tail", "take", "see_head"):
            with self.subTest(order):
                self.check_breaks(sizes(**{order: RELAXED}), "items")


if __name__ == "__main__":
    unittest.main()
