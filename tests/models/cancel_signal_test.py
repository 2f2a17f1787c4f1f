#!/usr/bin/env python3
"""CancelSignal (device/include/device/cancel_signal.hpp, device/src/cancel_signal.cpp) in SteppingThread
(device/src/stepping_thread.cpp): a call ends a read that waits for its device, and the thread runs the call."""

import unittest

from explorer import ACQ_REL, ACQUIRE, RELAXED, RELEASE, Model, ModelTest, exchange, load, store


def lock(mutex):
    return exchange(mutex, True, ACQUIRE, until=lambda held: not held)


def unlock(mutex):
    return store(mutex, False, RELEASE)


def cancel(calls=2, clears_in_lock=True):
    """The thread waits in each step until its driver is canceled, and ends after the last call."""
    def change(is_set):  # set() and clear()
        if (yield load("set", ACQUIRE)) != is_set:
            yield store("set", is_set, RELAXED)
            yield exchange("descriptor", is_set, ACQ_REL)

    def caller():
        for number in range(1, calls + 1):  # SteppingThread::run_call()
            yield lock("mutex")
            yield store("calls", number, RELEASE)
            yield from change(True)
            yield unlock("mutex")

    def thread():
        while True:  # SteppingThread::run()
            yield lock("mutex")
            run = yield load("calls", ACQUIRE)
            if clears_in_lock:
                yield from change(False)
            yield unlock("mutex")
            if not clears_in_lock:
                yield from change(False)
            if run == calls:
                return
            yield load("descriptor", ACQUIRE, until=bool)  # wait_for()
            yield load("set", ACQUIRE, until=bool)

    return Model({"mutex": False, "calls": 0, "set": False, "descriptor": False}, [caller, thread])


class CancelSignal(ModelTest):
    def test_every_call_is_run(self):
        self.check_holds(cancel())

    def test_a_signal_cleared_after_the_thread_took_its_calls_hides_a_later_call(self):
        self.check_breaks(cancel(clears_in_lock=False), "thread sleeps forever")


if __name__ == "__main__":
    unittest.main()
