#!/usr/bin/env python3
"""Waker and QueueWaker (core/include/core/waker.hpp, core/src/queue/waker.cpp): the woken thread never sleeps while
work waits for it. A PendingWake is the place `pending`."""

import unittest

from explorer import ACQ_REL, ACQUIRE, RELAXED, RELEASE, Model, ModelTest, exchange, fence, load, rmw, store


def write_descriptor():  # the kernel orders a write to an eventfd before the read that takes it
    return rmw("descriptor", lambda count: count + 1, ACQ_REL)


def read_descriptor():
    return exchange("descriptor", 0, ACQ_REL)


def wait_readable():
    return load("descriptor", ACQUIRE, until=lambda count: count > 0)


def wake(order=RELEASE):  # Waker::wake()
    if not (yield exchange("pending", True, order)):
        yield write_descriptor()


def clear():  # Waker::clear()
    yield read_descriptor()
    yield exchange("pending", False, ACQUIRE)


def waker(items=(2, 1), loads_first=False, set_order=RELEASE, clear_by=exchange, clear_order=ACQUIRE,
          clears_first=True, reads_descriptor_first=True):
    """Producers that hand over `items` one by one, and the thread that takes them all."""
    def producer(count):
        def run():
            for _ in range(count):
                yield rmw("items", lambda items: items + 1, RELEASE)
                if not loads_first or not (yield load("pending")):
                    yield from wake(set_order)
        run.__name__ = "producer"
        return run

    def woken():
        taken = 0
        while taken < sum(items):
            yield wait_readable()
            if not clears_first:
                taken = yield load("items", ACQUIRE)
            steps = [read_descriptor(), clear_by("pending", False, clear_order)]  # clear()
            for step in steps if reads_descriptor_first else reversed(steps):
                yield step
            if clears_first:
                taken = yield load("items", ACQUIRE)

    return Model({"items": 0, "pending": False, "descriptor": 0}, [*map(producer, items), woken])


def low_power_mode(producer_fence=True, end_fence=True, ends_first=True):
    """Sampler::notify_consumer() (device/src/sampler.cpp) with a nearly empty queue; Pump::catch_up() and
    Pump::run_turn() (gateway/src/line/pump.cpp) after the first subscription, before the timer is due."""
    def sampler():
        for items in (1, 2, 3):
            yield store("items", items, RELEASE)
            if producer_fence:  # QueueWaker::is_low_power()
                yield fence()
            if not (yield load("low_power", RELAXED)):
                yield from wake()

    def end_low_power():  # QueueWaker::end_low_power()
        yield store("low_power", False, RELAXED)
        if end_fence:
            yield fence()

    def pump():
        if ends_first:
            yield from end_low_power()
        taken = yield load("items", ACQUIRE)
        if not ends_first:
            yield from end_low_power()
        while taken < 3:
            yield wait_readable()
            yield from clear()
            taken = yield load("items", ACQUIRE)

    return Model({"items": 0, "pending": False, "descriptor": 0, "low_power": True}, [sampler, pump])


def late_wake_ups(items=(2, 1), has_timer=True, reads_timer_first=True):
    """QueueWaker::wake_later() and clear_late() in low-power mode: the timer is a descriptor that the kernel makes
    readable after it was started."""
    def producer(count):
        def run():
            for _ in range(count):
                yield rmw("items", lambda items: items + 1, RELEASE)
                if has_timer and not (yield exchange("is_timer_on", True, RELEASE)):
                    yield write_descriptor()
        run.__name__ = "producer"
        return run

    def pump():
        taken = 0
        while taken < sum(items):
            yield wait_readable()
            steps = [read_descriptor(), exchange("is_timer_on", False, ACQUIRE)]
            for step in steps if reads_timer_first else reversed(steps):
                yield step
            taken = yield load("items", ACQUIRE)

    return Model({"items": 0, "is_timer_on": False, "descriptor": 0}, [*map(producer, items), pump])


class Waker(ModelTest):
    def test_no_wake_up_is_lost_and_a_pending_one_covers_all_work(self):
        self.check_holds(waker())

    def test_each_wake_up_of_one_producer_arrives(self):
        self.check_holds(waker(items=(4,)))

    def test_a_load_before_the_exchange_loses_a_wake_up(self):
        self.check_breaks(waker(loads_first=True), "woken sleeps forever")

    def test_a_store_instead_of_the_exchange_in_clear_loses_work(self):
        self.check_breaks(waker(clear_by=store), "woken sleeps forever")

    def test_each_weaker_memory_order_loses_work(self):
        for order in ("set_order", "clear_order"):
            with self.subTest(order):
                self.check_breaks(waker(**{order: RELAXED}), "woken sleeps forever")

    def test_a_thread_that_takes_its_work_before_clear_misses_work(self):
        self.check_breaks(waker(clears_first=False), "woken sleeps forever")

    def test_a_thread_that_reads_the_descriptor_last_leaves_a_wake_up_pending_that_never_arrives(self):
        self.check_breaks(waker(reads_descriptor_first=False), "woken sleeps forever")


class LateWakeUps(ModelTest):
    def test_a_timer_covers_all_work_that_did_not_wake_the_consumer(self):
        self.check_holds(late_wake_ups())

    def test_work_is_left_over_without_the_timer(self):
        self.check_breaks(late_wake_ups(has_timer=False), "pump sleeps forever")

    def test_a_consumer_that_reads_the_timer_last_stops_one_that_was_started_again(self):
        self.check_breaks(late_wake_ups(reads_timer_first=False), "pump sleeps forever")


class LowPowerMode(ModelTest):
    def test_a_thread_that_returns_to_normal_mode_sees_all_work_that_did_not_wake_it(self):
        self.check_holds(low_power_mode())

    def test_work_is_left_over_without_a_fence_on_either_side(self):
        self.check_breaks(low_power_mode(producer_fence=False), "pump sleeps forever")
        self.check_breaks(low_power_mode(end_fence=False), "pump sleeps forever")

    def test_a_thread_that_takes_its_work_before_it_returns_to_normal_mode_misses_work(self):
        self.check_breaks(low_power_mode(ends_first=False), "pump sleeps forever")


if __name__ == "__main__":
    unittest.main()
