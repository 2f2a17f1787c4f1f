#!/usr/bin/env python3
"""PieceRing (core/src/transport/inproc/inproc_link.hpp): lent pieces are used by one side at a time, and no side waits
forever."""

import unittest

from explorer import ACQUIRE, RELAXED, RELEASE, SEQ_CST, Model, ModelTest, exchange, load, rmw, store, touch

PIECES = 2
NOBODY = 99


def ring(publish=SEQ_CST, check_reader=SEQ_CST, await_piece=SEQ_CST, check_pieces=SEQ_CST, see_pieces=ACQUIRE,
         finish=SEQ_CST, check_writer=SEQ_CST, await_finished=SEQ_CST, check_finished=SEQ_CST, see_finished=ACQUIRE,
         end=SEQ_CST, see_end=SEQ_CST, leave=SEQ_CST, see_gone=SEQ_CST, leaves=False):
    """A ring with one place. Each side sleeps until the other one wakes it, and then checks again: the wake-ups are
    flags in `reader woken` and `writer woken`, as in an eventfd. A reader that `leaves` does so with the first piece."""
    def writer():
        for number in range(1, PIECES + 1):
            while (yield load("finished", see_finished)) < number - 1:
                if (yield load("gone", see_gone)):
                    yield touch("piece")  # frees it
                    return
                yield store("writer waits for", number - 1, await_finished)
                if (yield load("finished", check_finished)) < number - 1 and not (yield load("gone", see_gone)):
                    yield exchange("writer woken", False, until=bool)
            yield touch("piece")
            yield store("published", number, publish)
            if (yield load("reader waits", check_reader)) and (yield exchange("reader waits", False)):
                yield exchange("reader woken", True)
        yield store("ended", True, end)
        yield exchange("reader woken", True)

    def reader():
        taken = 0
        while not leaves or taken == 0:
            has_ended = yield load("ended", see_end)
            if (yield load("published", see_pieces)) > taken:
                yield touch("piece")
                taken += 1
                if not leaves:
                    yield from return_piece(taken)
            elif has_ended:
                assert taken == PIECES, f"ended after {taken}"
                return
            else:
                yield store("reader waits", True, await_piece)
                if (yield load("published", check_pieces)) == taken and not (yield load("ended", see_end)):
                    yield exchange("reader woken", False, until=bool)
        yield store("gone", True, leave)
        yield exchange("writer woken", True)

    def return_piece(taken):  # finish()
        yield store("finished", taken, finish)
        count = yield load("writer waits for", check_writer)
        if taken >= count:
            if (yield rmw("writer waits for", lambda now: NOBODY if now == count else now)) == count:
                yield exchange("writer woken", True)

    return Model({"piece": None, "published": 0, "finished": 0, "reader waits": False, "reader woken": False,
                  "writer waits for": NOBODY, "writer woken": False, "ended": False, "gone": False}, [writer, reader])


class PieceRing(ModelTest):
    def test_a_piece_is_used_by_one_side_at_a_time_and_no_side_waits_forever(self):
        self.check_holds(ring())

    def test_a_piece_is_freed_after_the_reader_has_left(self):
        self.check_holds(ring(leaves=True))

    def test_a_weaker_memory_order_of_a_flag_or_a_count_is_a_side_that_waits_forever(self):
        for orders in ("publish", "check_reader", "await_piece", "check_pieces"):
            with self.subTest(orders):
                self.check_breaks(ring(**{orders: RELEASE if orders in ("publish", "await_piece") else ACQUIRE}),
                                  "reader sleeps forever")
        for orders in ("finish", "check_writer", "await_finished", "check_finished"):
            with self.subTest(orders):
                self.check_breaks(ring(**{orders: RELEASE if orders in ("finish", "await_finished") else ACQUIRE}),
                                  "writer sleeps forever")

    def test_a_weaker_memory_order_of_a_remembered_count_is_a_race(self):
        for order in ("see_pieces", "see_finished"):
            with self.subTest(order):
                self.check_breaks(ring(**{order: RELAXED}), "races for piece")

    def test_a_weaker_memory_order_of_the_end_hides_the_last_piece(self):
        for order in ("end", "see_end"):
            with self.subTest(order):
                self.check_breaks(ring(**{order: RELAXED}), "reader: ended after 1")

    def test_a_weaker_memory_order_of_leaving_frees_a_piece_that_is_read(self):
        for order in ("leave", "see_gone"):
            with self.subTest(order):
                self.check_breaks(ring(**{order: RELAXED}, leaves=True), "writer races for piece")


if __name__ == "__main__":
    unittest.main()
