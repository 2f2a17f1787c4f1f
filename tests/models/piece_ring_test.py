#!/usr/bin/env python3
"""PieceRing (core/src/transport/inproc/inproc_link.hpp): lent pieces are used by one side at a time, and no side waits
forever."""

import unittest

from explorer import ACQUIRE, RELAXED, RELEASE, SEQ_CST, Model, ModelTest, exchange, load, store, touch

PIECES = 2
NOBODY = 99


def ring(publish=SEQ_CST, check_reader=SEQ_CST, await_piece=SEQ_CST, check_pieces=SEQ_CST, see_pieces=ACQUIRE,
         finish=SEQ_CST, check_writer=SEQ_CST, await_finished=SEQ_CST, check_finished=SEQ_CST, see_finished=ACQUIRE):
    """A ring with one place. Each side sleeps until the other one wakes it: the wake-ups count in `reader woken` and
    `writer woken`, as in an eventfd."""
    def writer():
        for number in range(1, PIECES + 1):
            if (yield load("finished", see_finished)) < number - 1:
                yield store("writer waits for", number - 1, await_finished)
                if (yield load("finished", check_finished)) < number - 1:
                    yield exchange("writer woken", False, until=bool)
                yield load("finished", see_finished, until=lambda done, needed=number - 1: done >= needed)
            yield touch("piece")
            yield store("published", number, publish)
            if (yield load("reader waits", check_reader)) and (yield exchange("reader waits", False)):
                yield store("reader woken", True)

    def reader():
        for number in range(1, PIECES + 1):
            if (yield load("published", see_pieces)) < number:
                yield store("reader waits", True, await_piece)
                if (yield load("published", check_pieces)) < number:
                    yield exchange("reader woken", False, until=bool)
                yield load("published", see_pieces, until=lambda count, wanted=number: count >= wanted)
            yield touch("piece")
            yield store("finished", number, finish)
            if number >= (yield load("writer waits for", check_writer)):
                yield exchange("writer waits for", NOBODY)
                yield store("writer woken", True)

    return Model({"piece": None, "published": 0, "finished": 0, "reader waits": False, "reader woken": False,
                  "writer waits for": NOBODY, "writer woken": False}, [writer, reader])


class PieceRing(ModelTest):
    def test_a_piece_is_used_by_one_side_at_a_time_and_no_side_waits_forever(self):
        self.check_holds(ring())

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


if __name__ == "__main__":
    unittest.main()
