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
load may be stale, and the stores of a thread may become visible to another thread out of order. A store gets any
position in the modification order of its place that is after the stores which the thread knows, so it may precede a
store that was executed earlier. A read-modify-write directly follows the store that it reads, which may be any of these
that no other one has read. Release and acquire (operations and fences), release sequences, and the total order of
seq_cst operations and fences follow C++20. A sleeping thread wakes up once it can read a value that it waits for.

These are all reorderings of arm64 except for one: a store that becomes visible before an earlier load has returned its
value. Instead of exploring it, check_holds() refuses a model in which arm64 does not rule it out: see late_loads().

Not covered: failed compare-exchanges (a model stores the value again); time (an expired deadline is an ordinary step).
The numbers of threads and rounds are small, and an error that needs more of them is not found.
"""

import unittest
from collections import Counter, deque
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


class Store(NamedTuple):
    value: Any
    published: tuple  # the view that an acquiring reader gets
    is_rmw: bool = False  # nothing comes between it and the store that it has read


class State(NamedTuple):
    stores: tuple  # for each place, in modification order
    ordered: tuple  # the view shared by all seq_cst operations and fences so far
    threads: tuple


class Explored(NamedTuple):
    states: int
    interleavings: int


def joined(*views):
    return tuple(map(max, *views))


def replaced(items, index, item):
    return items[:index] + (item,) + items[index + 1:]


def opened(state, place, index):
    """Returns the state with space for a store at `index` of the modification order."""
    def moved(view):
        return replaced(view, place, view[place] + 1) if view[place] >= index else view

    stores = tuple(tuple(each._replace(published=moved(each.published)) for each in of_place)
                   for of_place in state.stores)
    threads = tuple(each._replace(view=moved(each.view), acquired=moved(each.acquired), released=moved(each.released))
                    for each in state.threads)
    return State(stores, moved(state.ordered), threads)


def late_loads(operations):
    """Returns the loads that arm64 may finish after the last operation, a store that is not a release: those that are
    not acquire, without a fence between, or a release that an acquiring read-modify-write follows."""
    *before, last = operations
    if last.kind not in ("store", "rmw") or last.order in RELEASES:
        return []
    late, released = [], []
    for each in before:
        if each.kind == "fence":
            late, released = [], []
        elif each.kind in ("store", "rmw") and each.order in RELEASES:
            late, released = [], released + late
        if each.kind == "rmw" and each.order in ACQUIRES:
            released = []
        elif each.kind in ("load", "rmw") and each.order not in ACQUIRES:
            late.append(each)
    if last.order not in ACQUIRES:
        late += released
    return [each for each in late if each.place != last.place]


def explore(model, states_max=300_000, may_load_late=True):
    """Returns the numbers of states and of interleavings, which are the paths through the states. Raises Violation, or
    TooManyStates for more than `states_max` states. With `may_load_late` false, late_loads() are violations."""
    explorer = Explorer(model, may_load_late)
    first = explorer.first()
    came_from = {first: None}  # maps each state to its predecessor and the step between them
    ways = Counter({first: 1})  # each step lengthens a history, so all steps to a state are found before those from it
    interleavings = 0
    waiting = deque([first])
    while waiting:
        state = waiting.popleft()
        try:
            steps = explorer.steps(state)
        except Violation as violation:
            raise Violation(f"{violation}, after\n{interleaving(came_from, state)}") from None
        interleavings += 0 if steps else ways[state]
        for step, after in steps:
            ways[after] += ways[state]
            if after not in came_from:
                if len(came_from) == states_max:
                    raise TooManyStates(f"more than {states_max} states: the model needs fewer rounds or threads, or "
                                        "has a loop that neither ends nor sleeps")
                came_from[after] = (state, step)
                waiting.append(after)
    return Explored(len(came_from), interleavings)


def interleaving(came_from, state):
    lines = []
    while came_from[state] is not None:
        state, line = came_from[state]
        lines.append("    " + line)
    return "\n".join(reversed(lines))


class Explorer:
    """Computes the steps that are possible in a state of a model."""

    def __init__(self, model, may_load_late):
        self.model = model
        self.may_load_late = may_load_late
        self.places = {place: index for index, place in enumerate(model.places)}
        self.next = [{} for _ in model.threads]  # for each thread: its next operation by the values it received

    def first(self):
        nothing = (0,) * len(self.places)
        return State(tuple((Store(value, nothing),) for value in self.model.places.values()), nothing,
                     (Thread((), nothing, nothing, nothing),) * len(self.model.threads))

    def operation(self, number, received):
        """Returns the next operation of a thread, or None at its end."""
        known = self.next[number]
        if received not in known:
            running, name = self.model.threads[number](), self.model.threads[number].__name__
            try:
                operations = [next(running)]
                operations += [running.send(value) for value in received]
                known[received] = operations[-1]
            except StopIteration:
                known[received] = None
                return None
            except AssertionError as failure:
                raise Violation(f"{name}: {failure or 'an assertion failed'}") from None
            if not self.may_load_late and (late := late_loads(operations)):
                raise Violation(f"{name}: {operations[-1].kind} {operations[-1].place} may be visible before "
                                f"{late[0].kind} {late[0].place} has returned a value")
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
            return [(text, written(state, number, place, len(stores), Store(None, ()), RELAXED))]
        oldest = thread.view[place] if operation.order != SEQ_CST else max(thread.view[place], state.ordered[place])
        steps = []
        for index in range(oldest, len(stores)):
            has_space = index + 1 == len(stores) or not stores[index + 1].is_rmw
            stale = "" if index + 1 == len(stores) else f" (before {stores[-1].value})"
            value = stores[index].value
            if operation.kind == "store":
                if has_space:
                    steps.append((f"{text} = {operation.value}{stale} {operation.order}",
                                  written(state, number, place, index + 1, Store(operation.value, ()),
                                          operation.order)))
            elif operation.until is None or operation.until(value):
                after = read(state, number, thread, place, index, operation.order)
                if operation.kind == "load":
                    steps.append((f"{text} -> {value}{stale} {operation.order}", after))
                elif has_space:
                    new = Store(operation.value(value), (), is_rmw=True)
                    steps.append((f"{text} {value} -> {new.value}{stale} {operation.order}",
                                  written(after, number, place, index + 1, new, operation.order)))
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
    value, published = state.stores[place][index][:2]
    view = replaced(thread.view, place, index)
    acquired = joined(thread.acquired, view, published)
    if order in ACQUIRES:
        view = joined(view, published)
    thread = thread._replace(received=thread.received + (value,), view=view, acquired=acquired)
    ordered = state.ordered
    if order == SEQ_CST:
        ordered = replaced(ordered, place, max(ordered[place], index))
    return State(state.stores, ordered, replaced(state.threads, number, thread))


def written(state, number, place, index, new, order):
    """Returns the state after a store at `index` of the modification order. A read-modify-write calls read() first."""
    if index < len(state.stores[place]):
        state = opened(state, place, index)
    stores = state.stores[place]
    thread = state.threads[number]
    view = replaced(thread.view, place, index)
    published = replaced(view if order in RELEASES else thread.released, place, index)
    if new.is_rmw:
        published = joined(published, stores[index - 1].published)
    else:
        thread = thread._replace(received=thread.received + (None,))
    thread = thread._replace(view=view, acquired=joined(thread.acquired, view))
    ordered = replaced(state.ordered, place, index) if order == SEQ_CST else state.ordered
    stores = stores[:index] + (new._replace(published=published),) + stores[index:]
    return State(replaced(state.stores, place, stores), ordered, replaced(state.threads, number, thread))


class ModelTest(unittest.TestCase):
    def check_holds(self, model):
        """Checks that no interleaving violates the model. Prints the number of states."""
        found = explore(model, may_load_late=False)
        print(f"{self._testMethodName}: {found.states} states, {found.interleavings} interleavings")

    def check_breaks(self, mutant, violation):
        """Checks that an interleaving of the mutant leads to a violation that matches a regular expression."""
        with self.assertRaisesRegex(Violation, violation):
            explore(mutant)
