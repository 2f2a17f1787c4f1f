#!/usr/bin/env python3
"""SamplingThreads: one thread at a time uses a device while changes, commands, stop and start run concurrently. Calls
do not time out in the models.

Files: device/src/sampling_threads.cpp, device/src/stepping_thread.hpp, device/src/stepping_thread.cpp,
device/src/sampler.cpp, device/src/sampler_change.cpp."""

import unittest

from explorer import ACQ_REL, ACQUIRE, RELAXED, RELEASE, Model, ModelTest, exchange, load, rmw, store, touch

DONE, BUSY, CANCELED = "done", "busy", "canceled"


def lock(mutex):
    return exchange(mutex, True, ACQUIRE, until=lambda held: not held)


def unlock(mutex):
    return store(mutex, False, RELEASE)


# Each SteppingThread has a mutex, which guards the pending calls and whether it has to stop: (callers, stopping).


def run_call(thread, caller):  # SteppingThread::run_call()
    yield store(f"answer to {caller}", None, RELEASE)
    _, stopping = yield rmw(f"{thread} calls", lambda calls: calls if calls[1] else ((*calls[0], caller), False),
                            ACQ_REL)
    return CANCELED if stopping else (yield load(f"answer to {caller}", ACQUIRE, until=bool))


def stop(thread):  # SteppingThread::stop()
    return rmw(f"{thread} calls", lambda calls: (calls[0], True), ACQ_REL)


def run(thread, step, answer):  # SteppingThread::run(): after the first step, it steps only after calls
    until = None
    while True:
        callers, stopping = yield rmw(f"{thread} calls", lambda calls: ((), calls[1]), ACQ_REL, until)
        for caller in callers:
            yield store(f"answer to {caller}", CANCELED if stopping else (yield from answer(caller)), RELEASE)
        if stopping:
            return
        yield from step()
        until = any_call


def any_call(calls):
    return calls != ((), False)


def use_device(_caller=None):
    yield touch("device")
    return DONE


def own_thread(name, last=None):  # State::make_thread() and OwnThread
    yield load(f"{name} phase", until=lambda phase: phase == "reading")
    if last:
        yield load(f"{last} has_ended", until=bool)
    yield touch("device")  # Sampler::install_own()
    yield from run(name, use_device, use_device)
    if (yield load(f"{name} removes")):
        yield touch("device")  # Sampler::remove_own()
    yield store(f"{name} has_ended", True)


def places(*own_threads):
    result = {"mutex": False, "own_thread": None, "is_own": False, "device": None, "tg-sample calls": ((), False)}
    for thread in own_threads:
        result |= {f"{thread} calls": ((), False), f"{thread} phase": "waiting", f"{thread} has_ended": False,
                   f"{thread} removes": False}
    return result


def changes(steps, commands=1, checks_owner=True, waits_for_last=True, apply_sets_owner=True, thread_removes=True):
    """While commands arrive, a device of tg-sample is changed in `steps`: "first" gives it a thread of its own,
    "second" another driver on a new thread, and "remove" removes it."""
    def tg_sample():
        reads = True

        def step():
            if reads:
                yield touch("device")

        def answer(caller):
            nonlocal reads
            if caller == "changer":  # Sampler::apply()
                reads = False
                if apply_sets_owner:
                    yield store("is_own", True, RELAXED)
            elif checks_owner and (yield load("is_own", RELAXED)):
                return BUSY
            else:
                yield touch("device")  # Sampler::command()
            return DONE

        yield from run("tg-sample", step, answer)

    def first():
        yield from own_thread("first")

    def second():
        yield from own_thread("second", "first" if waits_for_last else None)

    def do_own(change):  # State::do_own(), with the mutex locked
        last = yield load("own_thread", RELAXED)
        if last:  # State::request_end()
            yield store(f"{last} removes", change == "remove" and thread_removes)
            yield stop(last)
        if change == "remove":
            if not thread_removes:
                yield touch("device")
            yield store("own_thread", None, RELAXED)
        else:
            yield store("own_thread", change, RELAXED)
            if not apply_sets_owner:
                yield store("is_own", True, RELAXED)
            yield store(f"{change} phase", "reading")

    def changer():  # SamplingThreads::run_change()
        for change in steps:
            yield from run_call("tg-sample", "changer")
            yield lock("mutex")
            yield from do_own(change)
            yield unlock("mutex")

    def commander():  # SamplingThreads::run_command()
        for _ in range(commands):
            yield lock("mutex")
            thread = yield load("own_thread", RELAXED)
            yield unlock("mutex")
            yield from run_call(thread or "tg-sample", "commander")

    return Model(places("first", "second") | {"answer to changer": None, "answer to commander": None},
                 [changer, commander, tg_sample, first, second], servants=("tg_sample", "first", "second"))


def restart(takes_turns=True):
    """A device of tg-sample gets a thread of its own while another thread calls stop() and start()."""
    def tg_sample():
        def answer(_caller):  # Sampler::apply()
            yield store("is_own", True, RELAXED)
            return DONE

        yield from run("tg-sample", lambda: (), answer)
        yield store("tg-sample has_ended", True)

    def own():
        yield from own_thread("own")

    def changer():  # SamplingThreads::run_change()
        if takes_turns:
            yield lock("turn")
        if (yield from run_call("tg-sample", "changer")) == DONE:
            yield lock("mutex")
            yield store("own_thread", "own", RELAXED)
            yield store("own phase", "reading")
            yield unlock("mutex")
        if takes_turns:
            yield unlock("turn")

    def restarter():
        for begins in (False, True):
            yield lock("turn")
            yield lock("mutex")
            if not begins:  # SamplingThreads::stop()
                yield stop("tg-sample")
                thread = yield load("own_thread", RELAXED)
                if thread:
                    yield stop(thread)
                for each in ("tg-sample", thread):
                    if each:
                        yield load(f"{each} has_ended", until=bool)
            elif (yield load("is_own", RELAXED)):  # SamplingThreads::start()
                assert (yield load("own has_ended")), "a device without a driver for its own thread is started"
            yield unlock("mutex")
            yield unlock("turn")

    return Model(places("own") | {"turn": False, "tg-sample has_ended": False, "answer to changer": None},
                 [changer, restarter, tg_sample, own], servants=("own",))


class Changes(ModelTest):
    def test_a_device_moves_to_its_own_thread_while_commands_arrive(self):
        self.check_holds(changes(["first"], commands=2))

    def test_a_device_on_its_own_thread_is_replaced_while_a_command_arrives(self):
        self.check_holds(changes(["first", "second"]))

    def test_a_device_on_its_own_thread_is_removed_while_a_command_arrives(self):
        self.check_holds(changes(["first", "remove"]))

    def test_a_device_that_was_replaced_is_removed(self):
        self.check_holds(changes(["first", "second", "remove"], commands=0))

    def test_a_command_that_does_not_check_the_owner_of_the_device_is_a_race(self):
        self.check_breaks(changes(["first"], checks_owner=False), "races for device")
        self.check_breaks(changes(["first", "remove"], checks_owner=False), "races for device")

    def test_a_driver_that_does_not_wait_for_the_thread_of_the_last_one_is_a_race(self):
        self.check_breaks(changes(["first", "second"], waits_for_last=False), "races for device")

    def test_an_owner_set_outside_of_tg_sample_is_a_race_with_a_command(self):
        self.check_breaks(changes(["first"], apply_sets_owner=False), "races for device")

    def test_a_driver_removed_outside_of_its_own_thread_is_a_race(self):
        self.check_breaks(changes(["first", "remove"], thread_removes=False), "races for device")


class Restart(ModelTest):
    def test_a_stop_comes_before_or_after_a_change(self):
        self.check_holds(restart())

    def test_a_stop_in_the_middle_of_a_change_leaves_a_device_without_a_driver(self):
        self.check_breaks(restart(takes_turns=False), "a device without a driver")


if __name__ == "__main__":
    unittest.main()
