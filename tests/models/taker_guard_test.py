#!/usr/bin/env python3
"""TakerGuard (core/include/core/taker_guard.hpp): the consumer and the evictors never take items concurrently."""

import unittest

from explorer import ACQUIRE, RELAXED, RELEASE, Model, ModelTest, exchange, fence, load, store, touch


def guard(evictors=1, consumer_fence=True, evictor_fence=True, see_evictors=ACQUIRE, end_taking=RELEASE,
          see_end_of_taking=ACQUIRE, take_turn=ACQUIRE, end_turn=RELEASE, leave=RELEASE):
    """A single evictor leaves and returns, as in SingleProducerQueue. Two evictors never leave, as in
    BoundedQueue."""
    def wait_for_turn():
        yield exchange("turn", True, take_turn, until=lambda taken: not taken)

    def consumer():
        for _ in range(3):
            yield store("consuming", True, RELAXED)  # Consumer::Consumer()
            if consumer_fence:
                yield fence()
            has_turn = yield load("evictors", see_evictors)
            if has_turn:
                yield store("consuming", False, RELAXED)
                yield from wait_for_turn()
            yield touch("items")
            if has_turn:  # Consumer::~Consumer()
                yield store("turn", False, end_turn)
            else:
                yield store("consuming", False, end_taking)

    def evict():
        yield from wait_for_turn()  # Evictor::Evictor()
        if not (yield load("evictors", RELAXED)):
            yield store("evictors", True, RELAXED)
            if evictor_fence:
                yield fence()
            yield load("consuming", see_end_of_taking, until=lambda consuming: not consuming)
        yield touch("items")
        yield store("turn", False, end_turn)  # Evictor::~Evictor()

    def evictor():
        for _ in range(2):
            yield from evict()
            if evictors == 1:
                yield store("evictors", False, leave)  # evictors_leave()

    return Model({"consuming": False, "evictors": False, "turn": False, "items": None},
                 [consumer] + [evictor] * evictors)


class TakerGuard(ModelTest):
    def test_an_evictor_that_leaves_and_returns_never_takes_together_with_the_consumer(self):
        self.check_holds(guard())

    def test_two_evictors_and_the_consumer_take_one_at_a_time(self):
        self.check_holds(guard(evictors=2))

    def test_both_take_at_once_without_a_fence_on_either_side(self):
        self.check_breaks(guard(consumer_fence=False), "races for items")
        self.check_breaks(guard(evictor_fence=False), "races for items")

    def test_each_weaker_memory_order_is_a_race(self):
        for order in ("see_evictors", "end_taking", "see_end_of_taking", "take_turn", "end_turn", "leave"):
            with self.subTest(order):
                self.check_breaks(guard(**{order: RELAXED}), "races for items")


if __name__ == "__main__":
    unittest.main()
