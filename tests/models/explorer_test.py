#!/usr/bin/env python3
"""The explorer finds the results that C++20 allows for the usual litmus tests, and no others."""

import unittest

from explorer import (ACQUIRE, RELAXED, RELEASE, SEQ_CST, Model, ModelTest, TooManyStates, Violation, exchange, explore,
                      fence, load, rmw, store, touch)


def named(name, thread):
    thread.__name__ = name
    return thread


def outcomes(places, *threads):
    """Returns the set of all results, each a tuple of the values that the threads returned."""
    found = set()

    def recording(index, thread):
        def run():
            yield store(index, (yield from thread()), RELAXED)
        return named(thread.__name__, run)

    def note(newest):
        found.add(tuple(newest[index] for index in range(len(threads))))
        return True

    explore(Model(places | dict.fromkeys(range(len(threads))), [recording(*each) for each in enumerate(threads)],
                  at_end=note))
    return found


def last_values(places, *threads):
    """Returns all values that each place can have at the end."""
    found = {place: set() for place in places}

    def note(newest):
        for place in places:
            found[place].add(newest[place])
        return True

    explore(Model(places, list(threads), at_end=note))
    return found


def store_buffering(store_order, load_order, fences=(None, None)):
    def thread(own, other, fence_order):
        def run():
            yield store(own, 1, store_order)
            if fence_order is not None:
                yield fence(fence_order)
            return (yield load(other, load_order))
        return named(f"writer of {own}", run)

    return outcomes({"x": 0, "y": 0}, thread("x", "y", fences[0]), thread("y", "x", fences[1]))


def message_passing(store_order, load_order, fences=(None, None)):
    def writer():
        yield store("data", 1, RELAXED)
        if fences[0] is not None:
            yield fence(fences[0])
        yield store("ready", 1, store_order)

    def reader():
        yield load("ready", load_order, until=lambda ready: ready == 1)
        if fences[1] is not None:
            yield fence(fences[1])
        return (yield load("data", RELAXED))

    return {data for _, data in outcomes({"data": 0, "ready": 0}, writer, reader)}


def two_readers(store_order, load_order):
    """Returns whether two readers can see the stores of two writers in different orders."""
    def writer(place):
        def run():
            yield store(place, 1, store_order)
        return named(f"writer of {place}", run)

    def reader(first, second):
        def run():
            before = yield load(first, load_order)
            return before, (yield load(second, load_order))
        return named(f"reader of {first}", run)

    found = outcomes({"x": 0, "y": 0}, writer("x"), writer("y"), reader("x", "y"), reader("y", "x"))
    return (None, None, (1, 0), (1, 0)) in found


class MemoryModel(unittest.TestCase):
    def test_both_threads_can_miss_the_store_of_the_other_unless_both_use_seq_cst(self):
        for arguments in ((RELEASE, ACQUIRE), (SEQ_CST, ACQUIRE), (RELEASE, SEQ_CST),
                          (RELAXED, RELAXED, (SEQ_CST, None))):
            self.assertIn((0, 0), store_buffering(*arguments))
        for arguments in ((SEQ_CST, SEQ_CST), (RELAXED, RELAXED, (SEQ_CST, SEQ_CST))):
            self.assertEqual(store_buffering(*arguments), {(0, 1), (1, 0), (1, 1)})

    def test_stores_become_visible_out_of_order_unless_released_and_acquired(self):
        for arguments in ((RELAXED, ACQUIRE), (RELEASE, RELAXED), (RELAXED, RELAXED, (RELEASE, None)),
                          (RELAXED, RELAXED, (None, ACQUIRE))):
            self.assertEqual(message_passing(*arguments), {0, 1})
        for arguments in ((RELEASE, ACQUIRE), (RELAXED, RELAXED, (RELEASE, ACQUIRE))):
            self.assertEqual(message_passing(*arguments), {1})

    def test_two_readers_can_see_two_stores_in_different_orders_unless_all_are_seq_cst(self):
        self.assertTrue(two_readers(RELEASE, ACQUIRE))
        self.assertFalse(two_readers(SEQ_CST, SEQ_CST))

    def test_a_store_may_come_before_one_that_was_executed_earlier_unless_released_and_acquired(self):
        def last_data(store_order, load_order):
            def first():
                yield store("data", 1, RELAXED)
                yield store("ready", 1, store_order)

            def second():
                yield load("ready", load_order, until=lambda ready: ready == 1)
                yield store("data", 2, RELAXED)

            return last_values({"data": 0, "ready": 0}, first, second)["data"]

        self.assertEqual(last_data(RELEASE, RELAXED), {1, 2})
        self.assertEqual(last_data(RELAXED, ACQUIRE), {1, 2})
        self.assertEqual(last_data(RELEASE, ACQUIRE), {2})

    def test_a_read_modify_write_may_miss_a_store_unless_released_and_acquired(self):
        def changed(store_order, load_order):
            def writer():
                yield store("data", 1, RELAXED)
                yield store("ready", 1, store_order)

            def changer():
                yield load("ready", load_order, until=lambda ready: ready == 1)
                return (yield rmw("data", lambda data: data + 1, RELAXED))

            return {data for _, data in outcomes({"data": 0, "ready": 0}, writer, changer)}

        self.assertEqual(changed(RELAXED, ACQUIRE), {0, 1})
        self.assertEqual(changed(RELEASE, RELAXED), {0, 1})
        self.assertEqual(changed(RELEASE, ACQUIRE), {1})

    def test_a_relaxed_read_modify_write_continues_a_release_sequence(self):
        def writer():
            yield store("data", 1, RELAXED)
            yield store("ready", 1, RELEASE)

        def helper():
            yield rmw("ready", lambda ready: ready + 1, RELAXED, until=lambda ready: ready == 1)

        def reader():
            yield load("ready", ACQUIRE, until=lambda ready: ready == 2)
            return (yield load("data", RELAXED))

        self.assertEqual(outcomes({"data": 0, "ready": 0}, writer, helper, reader), {(None, None, 1)})

    def test_a_thread_never_reads_a_store_older_than_the_last_one_it_read(self):
        def writer():
            yield store("x", 1, RELAXED)

        def reader():
            before = yield load("x", RELAXED)
            return before, (yield load("x", RELAXED))

        self.assertEqual({read for _, read in outcomes({"x": 0}, writer, reader)}, {(0, 0), (0, 1), (1, 1)})

    def test_no_read_modify_write_is_lost(self):
        def adder():
            return (yield rmw("x", lambda x: x + 1, RELAXED))

        self.assertEqual(outcomes({"x": 0}, adder, adder), {(0, 1), (1, 0)})


def locked(unlock_order):
    def user():
        yield exchange("lock", 1, ACQUIRE, until=lambda held: not held)
        yield touch("item")
        yield store("lock", 0, unlock_order)

    return Model({"lock": 0, "item": None}, [user, user])


class Violations(ModelTest):
    def test_concurrent_touches_are_a_race(self):
        self.check_holds(locked(RELEASE))
        self.check_breaks(locked(RELAXED), "user races for item")

    def test_a_thread_that_sleeps_forever_is_reported_with_the_shortest_interleaving(self):
        def sleeper():
            yield load("x", until=lambda x: x == 2)

        def waker():
            yield store("x", 1, RELAXED)

        with self.assertRaises(Violation) as reported:
            explore(Model({"x": 0}, [sleeper, waker]))
        self.assertEqual(str(reported.exception),
                         "sleeper sleeps forever at load x, after\n    waker: store x = 1 relaxed")
        explore(Model({"x": 0}, [sleeper, waker], servants=("sleeper",)))

    def test_a_failed_assertion_and_a_condition_that_does_not_hold_at_the_end_are_violations(self):
        def reader():
            assert (yield load("x")) == 1, "x is not 1"

        self.check_breaks(Model({"x": 0}, [reader]), "reader: x is not 1")
        self.check_breaks(Model({"x": 0}, [], at_end=lambda newest: newest["x"] == 1), "at_end does not hold")

    def test_a_store_that_may_be_visible_before_an_earlier_load_is_refused(self):
        def passes_on(*between, load_order=RELAXED, store_order=RELAXED):
            def run():
                yield load("x", load_order)
                for each in between:
                    yield each
                yield store("y", 1, store_order)
            return Model({"x": 0, "y": 0, "z": 0}, [named("passes_on", run)])

        z = exchange("z", 1, ACQUIRE)
        for model in (passes_on(), passes_on(store("z", 1, RELEASE)), passes_on(load("z", ACQUIRE))):
            with self.assertRaisesRegex(Violation, "store y may be visible before load x has returned a value"):
                explore(model, may_load_late=False)
        for model in (passes_on(load_order=ACQUIRE), passes_on(store_order=RELEASE), passes_on(fence(ACQUIRE)),
                      passes_on(store("z", 0, RELEASE), z)):
            explore(model, may_load_late=False)

    def test_a_model_with_too_many_states_is_refused(self):
        def endless():
            while True:
                yield store("x", 1)

        with self.assertRaisesRegex(TooManyStates, "more than 100 states: the model needs fewer"):
            explore(Model({"x": 0}, [endless]), states_max=100)


if __name__ == "__main__":
    unittest.main()
