#!/usr/bin/env python3
"""LogBuffer (gateway/src/durable/log_buffer.hpp, gateway/src/durable/log_buffer.cpp): the thread of the log gets every
sample or its loss in order, and no side sleeps while the other has work for it. An exchange of a flag "woken" stands
for each Waker, see waker_test.py."""

import unittest

from explorer import (ACQUIRE, RELAXED, RELEASE, SEQ_CST, Model, ModelTest, exchange, fence, load, store, touch)

NEVER = 99


def entries(put_fence=True, wait_fence=True, rechecks=True):
    """wake_if_due() and wait_for_entries(1)."""
    def io():
        for number in (1, 2):
            yield store("added", number, RELEASE)
            if put_fence:
                yield fence()
            if (yield load("wake at", RELAXED)) <= number:
                yield exchange("woken", True)

    def log():
        taken = 0
        while taken < 2:
            yield store("wake at", 1, RELAXED)
            if wait_fence:
                yield fence()
            if not rechecks or (yield load("added", ACQUIRE)) == taken:
                yield exchange("woken", False, until=bool)
            yield store("wake at", NEVER, RELAXED)
            taken = yield load("added", ACQUIRE)

    return Model({"added": 0, "wake at": NEVER, "woken": False}, [io, log])


def losses(samples=3, end_fence=True, see_reported=ACQUIRE, return_reported=RELEASE):
    """A buffer for one entry, which is a sample or, as 0, the losses. The I/O thread calls put() and flush() in each
    turn, and flush() after the thread of the log has woken it."""
    def io():
        added, lost = 0, 0

        def is_full():
            return added > (yield load("taken", ACQUIRE))

        def add(entry):
            nonlocal added
            yield store(f"entry {added}", entry, RELEASE)
            added += 1
            yield store("added", added, RELEASE)

        def flush():
            nonlocal lost
            if lost == 0 or (yield from is_full()) or (yield load("reported", see_reported)):
                return
            yield touch("losses")
            yield store("reported", lost, RELEASE)
            yield from add(0)
            lost = 0
            yield store("losing", False, RELEASE)

        for _ in range(samples):
            if lost == 0 and not (yield from is_full()):
                yield from add(1)
            else:
                lost += 1
                yield store("losing", True, RELEASE)
            yield fence()  # wake_if_due()
            yield from flush()
        while True:
            yield exchange("woken", False, until=bool)
            yield from flush()

    def log():
        taken, received = 0, 0
        while True:
            added = yield load("added", ACQUIRE, until=lambda added, known=taken: added > known)
            popped = []  # drain()
            for number in range(taken, added):
                popped.append((yield load(f"entry {number}", ACQUIRE)))
            taken = added
            yield store("taken", taken, RELEASE)
            for entry in popped:
                received += entry
                if entry == 0:
                    yield touch("losses")
                    received += yield load("reported", ACQUIRE)
                    yield store("reported", 0, return_reported)
            yield store("received", received, RELEASE)
            if end_fence:
                yield fence()  # end_drain()
            if (yield load("losing", ACQUIRE)):
                yield exchange("woken", True)

    places = {"added": 0, "taken": 0, "losing": False, "reported": 0, "losses": None, "woken": False, "received": 0}
    places |= {f"entry {number}": None for number in range(samples + 1)}
    return Model(places, [io, log], servants=("io", "log"), at_end=lambda newest: newest["received"] == samples)


def last_losses(close=RELEASE, see_closed=ACQUIRE):
    """close() and the last drain(), which uses the losses of the I/O thread."""
    def io():
        yield touch("losses")
        yield store("closed", True, close)

    def log():
        yield load("closed", see_closed, until=bool)
        yield touch("losses")

    return Model({"closed": False, "losses": None}, [io, log])


def hurry(clear_by=exchange, clear=SEQ_CST, urge=SEQ_CST, urges_first=True):
    """hurry() after an entry was added. The thread of the log waits for two entries; its first wait has ended because
    of its deadline, and the entry may come before or after the drain that follows."""
    def io():
        yield store("added", 1, RELEASE)
        if urges_first:
            yield store("urgent", True, urge)
        yield exchange("woken", True)
        if not urges_first:
            yield store("urgent", True, urge)

    def log():
        yield clear_by("urgent", False, clear)  # wait_for_load()
        if (yield load("added", ACQUIRE)) == 1:  # drain()
            return
        while True:  # wait_for_entries(2)
            is_urgent = yield load("urgent")
            if (yield load("added", ACQUIRE)) == 1 and is_urgent:
                return
            yield exchange("woken", False, until=bool)

    return Model({"added": 0, "urgent": False, "woken": False}, [io, log])


def call(request=SEQ_CST, see_wait=SEQ_CST, fences=True):
    """request_call() and wait_for_entries() for a call: the latter sets wake_at_ with a relaxed store and a fence."""
    def io():
        yield store("wanted", True, request)
        if (yield load("wake at", see_wait)) != NEVER:
            yield exchange("woken", True)

    def log():
        yield store("wake at", 1, RELAXED)
        if fences:
            yield fence()
        if not (yield load("wanted")):
            yield exchange("woken", False, until=bool)

    return Model({"wanted": False, "wake at": NEVER, "woken": False}, [io, log])


class Entries(ModelTest):
    def test_the_thread_of_the_log_is_woken_for_each_entry(self):
        self.check_holds(entries())

    def test_a_wake_up_is_lost_without_a_fence_on_either_side(self):
        self.check_breaks(entries(put_fence=False), "log sleeps forever")
        self.check_breaks(entries(wait_fence=False), "log sleeps forever")

    def test_a_thread_that_does_not_recheck_sleeps_forever(self):
        self.check_breaks(entries(rechecks=False), "log sleeps forever")


class Losses(ModelTest):
    def test_every_sample_is_received_or_reported_as_lost(self):
        self.check_holds(losses())

    def test_losses_stay_unreported_without_the_fence_at_the_end_of_a_drain(self):
        self.check_breaks(losses(end_fence=False), "at_end does not hold")

    def test_each_weaker_memory_order_is_a_race(self):
        for order in ("see_reported", "return_reported"):
            with self.subTest(order):
                self.check_breaks(losses(**{order: RELAXED}), "races for losses")

    def test_the_last_losses_are_used_after_the_buffer_was_closed(self):
        self.check_holds(last_losses())
        for order in ("close", "see_closed"):
            with self.subTest(order):
                self.check_breaks(last_losses(**{order: RELAXED}), "log races for losses")


class Hurry(ModelTest):
    def test_entries_before_hurry_are_drained_at_once(self):
        self.check_holds(hurry())

    def test_a_store_instead_of_the_exchange_leaves_an_entry_behind(self):
        self.check_breaks(hurry(clear_by=store), "log sleeps forever")

    def test_each_weaker_memory_order_leaves_an_entry_behind(self):
        for order in ("clear", "urge"):
            with self.subTest(order):
                self.check_breaks(hurry(**{order: RELAXED}), "log sleeps forever")

    def test_a_thread_that_is_woken_before_the_flag_is_set_leaves_an_entry_behind(self):
        self.check_breaks(hurry(urges_first=False), "log sleeps forever")


class Call(ModelTest):
    def test_a_requested_call_is_made(self):
        self.check_holds(call())

    def test_a_wake_up_is_lost_if_one_side_is_not_seq_cst(self):
        self.check_breaks(call(request=RELEASE), "log sleeps forever")
        self.check_breaks(call(see_wait=ACQUIRE), "log sleeps forever")
        self.check_breaks(call(fences=False), "log sleeps forever")


if __name__ == "__main__":
    unittest.main()
