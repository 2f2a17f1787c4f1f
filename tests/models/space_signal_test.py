#!/usr/bin/env python3
"""SpaceSignal (core/include/core/bounded_queue.hpp): no producer sleeps while the queue has capacity or is closed."""

import unittest

from explorer import ACQUIRE, RELAXED, RELEASE, SEQ_CST, Model, ModelTest, fence, load, rmw, store


def queue(pushes=(2,), closes=False, producer_fence=True, consumer_fence=True, rechecks=True, reads_count_first=True,
          ring_order=SEQ_CST):
    """BoundedQueue (core/include/core/bounded_queue.hpp) with the policy `block` and a capacity of one item, which is
    full at first. The number of items replaces head and tail. `pushes` has the number of items of each producer."""
    def must_wait():
        return (yield load("items", ACQUIRE)) == 1 and not (closes and (yield load("closed")))

    def wait_unless_there_is_room():  # SpaceSignal::wait_unless()
        rung = yield load("rung")
        yield store("waiting", True)
        if not reads_count_first:
            rung = yield load("rung")
        if producer_fence:
            yield fence()
        if not rechecks or (yield from must_wait()):
            yield load("rung", until=lambda now: now != rung)

    def producer(count):
        def run():  # BoundedQueue::push()
            entered = 0
            while entered < count and not (closes and (yield load("closed", ACQUIRE))):
                if (yield rmw("items", lambda items: 1)) == 0:
                    entered += 1
                else:
                    yield from wait_unless_there_is_room()
        run.__name__ = "producer"
        return run

    def ring():  # SpaceSignal::ring()
        yield store("waiting", False)
        yield rmw("rung", lambda rung: rung + 1, ring_order)

    def consumer():  # BoundedQueue::pop()
        for _ in range(sum(pushes)):
            yield rmw("items", lambda items: 0, RELEASE, until=lambda items: items == 1)
            if consumer_fence:  # SpaceSignal::somebody_waits()
                yield fence()
            if (yield load("waiting", RELAXED)):
                yield from ring()

    def closer():  # BoundedQueue::close()
        yield store("closed", True, RELEASE)
        yield from ring()

    return Model({"items": 1, "waiting": False, "rung": 0, "closed": False},
                 [closer if closes else consumer, *map(producer, pushes)])


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

    def test_a_relaxed_ring_does_not_publish_the_close(self):
        self.check_breaks(queue(closes=True, ring_order=RELAXED), "producer sleeps forever")


if __name__ == "__main__":
    unittest.main()
