"""Explores every interleaving of small models of concurrent protocols under the C++20 memory model.

A Model consists of places (memory locations with their initial values) and threads. A thread is a generator function.
It yields one operation at a time and receives the value that the operation read:

    def producer():
        yield store("data", 1, RELAXED)
        yield store("ready", 1, RELEASE)

    def consumer():
        yield load("ready", ACQUIRE, until=lambda ready: ready == 1)
        assert (yield load("data", RELAXED)) == 1

    explore(Model({"data": 0, "ready": 0}, [producer, consumer]))

explore() returns the number of states, or raises a Violation that contains the shortest interleaving leading to it:

- an assertion in a thread failed,
- two touch() operations on one place are not ordered by happens-before (a data race),
- a thread sleeps forever: no thread can run, and a thread that is not one of the model's `servants` has not ended,
- no thread can run and `at_end` does not hold, for example because work is left over.

Each model has its own test file. The test checks that no interleaving violates the model, and that the explorer finds a
violation in each mutant: the model with one memory order weakened or one step removed. A thread must be deterministic:
its next operation depends only on the values that it received. Loops must end or sleep, so that the number of states is
finite.

Covered: a place keeps every store, and a load returns any store that the thread does not know to be overwritten. So a
load may be stale, and the stores of a thread may become visible to another thread out of order, except that each place
keeps its modification order. Release and acquire (operations and fences), release sequences, and the total order of
seq_cst operations and fences follow C++20. A read-modify-write reads the newest store. A sleeping thread wakes up once
it can read a value that it waits for.

Not covered: load buffering (a load that returns a store that follows it in program order); a modification order that
differs from the order in which two threads executed their stores; failed compare-exchanges (a model stores the value
again); time (an expired deadline is an ordinary step). The numbers of threads and rounds are small, and an error that
needs more of them is not found.
"""

import unittest
from collections import deque
from typing import Any, Callable, NamedTuple, Optional

RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST = "relaxed", "acquire", "release", "acq_rel", "seq_cst"
ACQUIRES, RELEASES = (ACQUIRE, ACQ_REL, SEQ_CST), (RELEASE, ACQ_REL, SEQ_CST)


class Operation(NamedTuple):
    kind: str
    place: str = ""
    value: Any = None  # the value to store; for rmw a function of the previous value
    order: str = SEQ_CST
    until: Optional[Callable[[Any], bool]] = None  # the thread sleeps until this holds for the value it reads


def load(place, order=SEQ_CST, until=None):
    return Operation("load", place, None, order, until)


def store(place, value, order=SEQ_CST):
    return Operation("store", place, value, order)


def rmw(place, change, order=SEQ_CST, until=None):
    """Replaces the newest value by change(value) and returns the previous one. `until` makes it a lock or an event."""
    return Operation("rmw", place, change, order, until)


def exchange(place, value, order=SEQ_CST, until=None):
    return rmw(place, lambda _: value, order, until)


def fence(order=SEQ_CST):
    return Operation("fence", order=order)


def touch(place):
    """Uses a non-atomic object, such as a driver or an item in a queue. Two threads must never do so concurrently."""
    return Operation("touch", place)


class Model(NamedTuple):
    places: dict
    threads: list
    servants: tuple = ()  # names of threads that may sleep when all others have ended
    at_end: Callable[[dict], bool] = lambda newest: True  # must hold for the newest values when no thread can run


class Violation(Exception):
    pass


class TooManyStates(Exception):
    pass


# A view holds, for each place, the index of the oldest store that may still be read.


class Thread(NamedTuple):
    received: tuple  # the values returned by its operations, which determine its next operation
    view: tuple
    acquired: tuple  # becomes its view with the next acquire fence
    released: tuple  # its view at its last release fence, which its relaxed stores publish


class State(NamedTuple):
    stores: tuple  # for each place, all pairs (value, view that an acquiring reader gets), in modification order
    ordered: tuple  # the view shared by all seq_cst operations and fences so far
    threads: tuple


def joined(*views):
    return tuple(map(max, *views))


def replaced(items, index, item):
    return items[:index] + (item,) + items[index + 1:]


def explore(model, states_max=300_000):
    """Returns the number of states. Raises Violation, or TooManyStates for more than `states_max` of them."""
    explorer = Explorer(model)
    first = explorer.first()
    came_from = {first: None}  # maps each state to its predecessor and the step between them
    waiting = deque([first])
    while waiting:
        state = waiting.popleft()
        try:
            steps = explorer.steps(state)
        except Violation as violation:
            raise Violation(f"{violation}, after\n{interleaving(came_from, state)}") from None
        for step, after in steps:
            if after not in came_from:
                if len(came_from) == states_max:
                    raise TooManyStates(f"more than {states_max} states: the model needs fewer rounds or threads, or "
                                        "has a loop that neither ends nor sleeps")
                came_from[after] = (state, step)
                waiting.append(after)
    return len(came_from)


def interleaving(came_from, state):
    lines = []
    while came_from[state] is not None:
        state, line = came_from[state]
        lines.append("    " + line)
    return "\n".join(reversed(lines))


class Explorer:
    """Computes the steps that are possible in a state of a model."""

    def __init__(self, model):
        self.model = model
        self.places = {place: index for index, place in enumerate(model.places)}
        self.next = [{} for _ in model.threads]  # for each thread: its next operation by the values it received

    def first(self):
        nothing = (0,) * len(self.places)
        return State(tuple(((value, nothing),) for value in self.model.places.values()), nothing,
                     (Thread((), nothing, nothing, nothing),) * len(self.model.threads))

    def operation(self, number, received):
        """Returns the next operation of a thread, or None at its end."""
        known = self.next[number]
        if received not in known:
            running = self.model.threads[number]()
            try:
                known[received] = next(running)
                for value in received:
                    known[received] = running.send(value)
            except StopIteration:
                known[received] = None
            except AssertionError as failure:
                raise Violation(f"{self.model.threads[number].__name__}: {failure or 'an assertion failed'}") from None
        return known[received]

    def steps(self, state):
        """Returns all possible steps, each as a pair (description, next state)."""
        operations = [self.operation(number, thread.received) for number, thread in enumerate(state.threads)]
        for number, operation in enumerate(operations):
            if operation is not None and operation.kind == "touch":
                return self.run(state, number, operation)  # touches do not order threads, so one order is enough
        steps = [step for number, operation in enumerate(operations) if operation is not None
                 for step in self.run(state, number, operation)]
        if not steps:
            self.check_end(state, operations)
        return steps

    def check_end(self, state, operations):
        asleep = [f"{thread.__name__} sleeps forever at {operation.kind} {operation.place}"
                  for thread, operation in zip(self.model.threads, operations)
                  if operation is not None and thread.__name__ not in self.model.servants]
        if asleep:
            raise Violation(", ".join(asleep))
        newest = {place: state.stores[index][-1][0] for place, index in self.places.items()}
        if not self.model.at_end(newest):
            raise Violation(f"at_end does not hold for {newest}")

    def run(self, state, number, operation):
        thread, name = state.threads[number], self.model.threads[number].__name__
        if operation.kind == "fence":
            return [(f"{name}: fence {operation.order}", fenced(state, number, thread, operation.order))]
        place = self.places[operation.place]
        stores = state.stores[place]
        text = f"{name}: {operation.kind} {operation.place}"
        if operation.kind == "touch":
            if thread.view[place] != len(stores) - 1:
                raise Violation(f"{name} races for {operation.place}")
            return [(text, written(state, number, thread, place, None, RELAXED))]
        if operation.kind == "store":
            return [(f"{text} = {operation.value} {operation.order}",
                     written(state, number, thread, place, operation.value, operation.order))]
        oldest = len(stores) - 1 if operation.kind == "rmw" else thread.view[place]
        if operation.order == SEQ_CST:
            oldest = max(oldest, state.ordered[place])
        steps = []
        for index in range(oldest, len(stores)):
            value, published = stores[index]
            if operation.until is not None and not operation.until(value):
                continue
            stale = "" if index == len(stores) - 1 else f" (stale: {stores[-1][0]} is newer)"
            after = read(state, number, thread, place, index, operation.order)
            description = f"{text} -> {value}{stale} {operation.order}"
            if operation.kind == "rmw":
                new = operation.value(value)
                description = f"{text} {value} -> {new} {operation.order}"
                after = written(after, number, after.threads[number], place, new, operation.order, published)
            steps.append((description, after))
        return steps


def fenced(state, number, thread, order):
    ordered, view = state.ordered, thread.view
    if order in ACQUIRES:
        view = joined(view, thread.acquired)
    if order == SEQ_CST:
        view = ordered = joined(view, ordered)
    thread = thread._replace(received=thread.received + (None,), view=view, acquired=joined(thread.acquired, view),
                             released=view if order in RELEASES else thread.released)
    return State(state.stores, ordered, replaced(state.threads, number, thread))


def read(state, number, thread, place, index, order):
    value, published = state.stores[place][index]
    view = replaced(thread.view, place, index)
    acquired = joined(thread.acquired, view, published)
    if order in ACQUIRES:
        view = joined(view, published)
    thread = thread._replace(received=thread.received + (value,), view=view, acquired=acquired)
    ordered = state.ordered
    if order == SEQ_CST:
        ordered = replaced(ordered, place, max(ordered[place], index))
    return State(state.stores, ordered, replaced(state.threads, number, thread))


def written(state, number, thread, place, value, order, read_with=None):
    """Returns the state after a store. A read-modify-write calls read() first and passes the view that it read."""
    index = len(state.stores[place])
    view = replaced(thread.view, place, index)
    published = replaced(view if order in RELEASES else thread.released, place, index)
    received = thread.received if read_with else thread.received + (None,)
    if read_with:
        published = joined(published, read_with)
    thread = thread._replace(received=received, view=view, acquired=joined(thread.acquired, view))
    ordered = replaced(state.ordered, place, index) if order == SEQ_CST else state.ordered
    return State(replaced(state.stores, place, state.stores[place] + ((value, published),)), ordered,
                 replaced(state.threads, number, thread))


class ModelTest(unittest.TestCase):
    def check_holds(self, model):
        """Checks that no interleaving violates the model. Prints the number of states."""
        print(f"{self._testMethodName}: {explore(model)} states")

    def check_breaks(self, mutant, violation):
        """Checks that an interleaving of the mutant leads to a violation that matches a regular expression."""
        with self.assertRaisesRegex(Violation, violation):
            explore(mutant)
