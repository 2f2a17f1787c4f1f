#!/usr/bin/env python3
"""SpaceSignal and LendingTurn (core/include/core/bounded_queue.hpp): no producer sleeps while the queue has capacity or
is closed, and no capacity is lent twice."""

import unittest

from explorer import ACQUIRE, RELAXED, RELEASE, Model, ModelTest, exchange, fence, load, rmw, store


def queue(pushes=(2,), closes=False, producer_fence=True, consumer_fence=True, rechecks=True, reads_count_first=True,
          see_ring=ACQUIRE, ring_order=RELEASE, clears_first=True):
    """BoundedQueue (core/include/core/bounded_queue.hpp) with the policy `block` and a capacity of one item, which is
    full at first. The number of items replaces head and tail. `pushes` has the number of items of each producer."""
    def must_wait():
        return (yield load("items", ACQUIRE)) == 1 and not (closes and (yield load("closed", RELAXED)))

    def wait_unless_there_is_room():  # SpaceSignal::wait_unless()
        rung = yield load("rung", see_ring)
        yield store("waiting", True, RELAXED)
        if not reads_count_first:
            rung = yield load("rung", see_ring)
        if producer_fence:
            yield fence()
        if not rechecks or (yield from must_wait()):
            yield load("rung", ACQUIRE, until=lambda now: now != rung)

    def producer(count):
        def run():  # BoundedQueue::push()
            entered = 0
            while entered < count and not (closes and (yield load("closed", RELAXED))):
                if (yield rmw("items", lambda items: 1)) == 0:
                    entered += 1
                else:
                    yield from wait_unless_there_is_room()
        run.__name__ = "producer"
        return run

    def ring():  # SpaceSignal::ring()
        if clears_first:
            yield store("waiting", False, RELAXED)
        yield rmw("rung", lambda rung: rung + 1, ring_order)
        if not clears_first:
            yield store("waiting", False, RELAXED)

    def consumer():  # BoundedQueue::pop()
        for _ in range(sum(pushes)):
            yield rmw("items", lambda items: 0, RELEASE, until=lambda items: items == 1)
            if consumer_fence:  # SpaceSignal::somebody_waits()
                yield fence()
            if (yield load("waiting", RELAXED)):
                yield from ring()

    def closer():  # BoundedQueue::close()
        yield store("closed", True, RELAXED)
        yield from ring()

    return Model({"items": 1, "waiting": False, "rung": 0, "closed": False},
                 [closer if closes else consumer, *map(producer, pushes)])


def lending(take=ACQUIRE, end=RELEASE):
    """LendingTurn: two producers want to borrow the only item that may be lent."""
    def producer(own, other):
        def run():
            yield exchange("turn", True, take, until=lambda taken: not taken)
            if (yield load(f"tail of {other}", ACQUIRE)) == 0:  # allowance()
                yield store(f"tail of {own}", 1, RELEASE)
            yield store("turn", False, end)
        run.__name__ = f"producer {own}"
        return run

    return Model({"turn": False, "tail of a": 0, "tail of b": 0}, [producer("a", "b"), producer("b", "a")],
                 at_end=lambda newest: newest["tail of a"] + newest["tail of b"] == 1)


class LendingTurn(ModelTest):
    def test_capacity_is_lent_once(self):
        self.check_holds(lending())

    def test_each_weaker_memory_order_lends_it_twice(self):
        for order in ("take", "end"):
            with self.subTest(order):
                self.check_breaks(lending(**{order: RELAXED}), "at_end does not hold")


class SpaceSignal(ModelTest):
    def test_a_waiting_producer_is_woken_when_the_queue_has_capacity(self):
        self.check_holds(queue())

    def test_none_of_two_producers_sleeps_while_the_queue_has_capacity(self):
        self.check_holds(queue(pushes=(1, 1)))

    def test_close_wakes_every_producer(self):
        self.check_holds(queue(pushes=(1, 1), closes=True))

    def test_a_wake_up_is_lost_without_a_fence_on_either_side(self):
        self.check_breaks(queue(producer_fence=False), "producer sleeps forever")
        self.check_breaks(queue(consumer_fence=False), "producer sleeps forever")

    def test_a_producer_that_does_not_recheck_after_setting_its_flag_sleeps_forever(self):
        self.check_breaks(queue(rechecks=False), "producer sleeps forever")

    def test_a_producer_that_reads_the_count_after_setting_its_flag_misses_a_ring(self):
        self.check_breaks(queue(pushes=(1, 1), reads_count_first=False), "producer sleeps forever")

    def test_a_ring_must_clear_the_flag_before_it_counts(self):
        self.check_breaks(queue(clears_first=False), "producer sleeps forever")

    def test_each_weaker_memory_order_of_the_count_loses_a_wake_up(self):
        for order in ("see_ring", "ring_order"):
            with self.subTest(order):
                self.check_breaks(queue(**{order: RELAXED}), "producer sleeps forever")

    def test_a_relaxed_ring_does_not_publish_the_close(self):
        self.check_breaks(queue(closes=True, ring_order=RELAXED), "producer sleeps forever")


if __name__ == "__main__":
    unittest.main()
