#!/usr/bin/env python3
"""ShardLink (core/src/publish/shard_link.hpp): neither side sleeps while the other has published something for it."""

import unittest

from explorer import (ACQ_REL, ACQUIRE, RELAXED, RELEASE, SEQ_CST, Model, ModelTest, exchange, load, rmw, store, touch)

WAKER, SOCKET = 1, 2  # events of the shard's reactor
NOTHING_WAITS = 99  # ReadProgress::nothing_waits


def add_event(event):
    return rmw("events", lambda events: events | event, ACQ_REL)


def take_events():
    return exchange("events", 0, ACQ_REL, until=bool)


def wake_shard(order=SEQ_CST):  # ShardLink::wake_shard()
    if (yield load("shard_waits", order)) and (yield exchange("shard_waits", False)):
        yield add_event(WAKER)


def wake_publisher():  # Shards::calls_of() posts a call
    return store("posted", True, RELEASE)


def wait_for_post():
    return exchange("posted", False, ACQUIRE, until=bool)


def records(count=3, publish_order=SEQ_CST, check_shard=SEQ_CST, await_record=SEQ_CST, check_record=SEQ_CST,
            report_order=SEQ_CST, check_publisher=SEQ_CST, await_progress=SEQ_CST, check_progress=SEQ_CST,
            see_record=ACQUIRE, see_applied=SEQ_CST, shard_rechecks=True, publisher_rechecks=True,
            publishes_first=True):
    """ShardQueue::flush() (core/src/publish/shard_queue.cpp), called for each record, and Shard::on_wake() and
    finish_turn() (core/src/shards/shard.cpp). The link holds two records."""
    def can_put(put, order):
        return put - (yield load("applied", order)) < 2

    def publisher():
        put = 0
        while put < count:
            if not (yield from can_put(put, see_applied)):
                yield store("awaits_progress", True, await_progress)  # ShardLink::await_progress()
                if not publisher_rechecks or not (yield from can_put(put, check_progress)):
                    yield wait_for_post()
                    continue
            yield touch(f"record {put % 2}")
            put += 1
            if publishes_first:  # ShardLink::publish()
                yield store("published", put, publish_order)
            yield from wake_shard(check_shard)
            if not publishes_first:
                yield store("published", put, publish_order)

    def report(taken, applied):  # ShardLink::report()
        yield store("applied", taken, report_order)
        awaits = taken != applied and (yield load("awaits_progress", check_publisher))
        if awaits and (yield exchange("awaits_progress", False)):
            yield wake_publisher()

    def shard():
        taken = applied = 0
        again = False
        while True:
            if not again:
                yield take_events()
            while taken != (yield load("published", see_record)):  # ShardLink::front()
                yield touch(f"record {taken % 2}")
                taken += 1
            yield store("shard_waits", True, await_record)  # ShardLink::await_record()
            again = shard_rechecks and (yield load("published", check_record)) != taken
            if again:
                yield store("shard_waits", False)
            if taken != applied:
                yield from report(taken, applied)
                applied = taken

    return Model({"published": 0, "applied": 0, "shard_waits": True, "awaits_progress": False, "record 0": None,
                  "record 1": None, "events": 0, "posted": False},
                 [publisher, shard], servants=("shard",), at_end=lambda newest: newest["applied"] == count)


def room(wakes_shard=True, await_order=SEQ_CST, shard_waits_order=SEQ_CST, is_awaited_order=SEQ_CST):
    """ShardQueue::await_room() of a publisher with the policy `block`. A session of the shard has to write to its
    socket first. The shard begins at the end of a turn."""
    def publisher():
        yield exchange("awaited", 1, await_order)  # ShardLink::await_room()
        if wakes_shard:
            yield from wake_shard()
        yield wait_for_post()
        assert (yield load("oldest")) >= 1, "the publisher was woken without room"

    def peer():
        yield add_event(SOCKET)  # the socket is writable

    def shard():
        oldest, events = 0, WAKER
        while True:
            if events & SOCKET:
                oldest = NOTHING_WAITS
            if events & WAKER:
                yield store("shard_waits", True, shard_waits_order)  # ShardLink::await_record()
            if (yield load("awaited", is_awaited_order)):  # Shard::finish_turn()
                yield store("oldest", oldest)  # ShardLink::report()
                awaited = yield load("awaited")
                if awaited and oldest >= awaited and (yield exchange("awaited", 0)):
                    yield wake_publisher()
            events = yield take_events()

    return Model({"awaited": 0, "oldest": 0, "shard_waits": False, "events": 0, "posted": False},
                 [publisher, peer, shard], servants=("shard",))


def limit(await_order=SEQ_CST, check_shard=SEQ_CST, await_record=SEQ_CST, check_limit=SEQ_CST, report_order=SEQ_CST,
          see_applied=SEQ_CST):
    """await_block_limit() after a read of the progress. The shard reports twice, the first time without a request;
    the second report allows the publisher to continue."""
    def publisher():
        applied = yield load("applied", see_applied)
        assert (yield load("limit")) >= applied, "the progress is older than the number of applied records"
        yield store("awaited", 2, await_order)  # ShardLink::await_block_limit()
        yield from wake_shard(check_shard)
        yield wait_for_post()

    def shard():
        for log_end in (1, 2):
            yield store("limit", log_end, RELEASE)  # ShardLink::report()
            yield store("applied", log_end, report_order)
            awaited = yield load("awaited")
            if awaited and log_end >= awaited and (yield exchange("awaited", 0)):
                yield wake_publisher()
            yield store("shard_waits", True, await_record)
            if log_end == 1 and (yield load("awaited", check_limit)) == 0:
                yield take_events()

    return Model({"awaited": 0, "limit": 0, "applied": 0, "shard_waits": False, "events": 0, "posted": False},
                 [publisher, shard], servants=("shard",))


def leases(release_order=RELEASE, take_released_order=ACQUIRE):
    """ShardLink::release() and take_back(): the publisher reuses a segment after the shard has read it."""
    def shard():
        yield touch("segment")
        yield rmw("back", lambda back: back + 1, release_order)

    def publisher():
        yield load("back", RELAXED, until=bool)
        yield exchange("back", 0, take_released_order)
        yield touch("segment")

    return Model({"back": 0, "segment": None}, [shard, publisher])


class Records(ModelTest):
    def test_every_record_is_applied(self):
        self.check_holds(records())

    def test_a_wake_up_is_lost_if_one_side_is_not_seq_cst(self):
        for order in ("publish_order", "check_shard", "await_record", "check_record"):
            with self.subTest(order):
                weaker = RELEASE if order in ("publish_order", "await_record") else ACQUIRE
                self.check_breaks(records(**{order: weaker}), "at_end does not hold")
        for order in ("report_order", "check_publisher", "await_progress", "check_progress"):
            with self.subTest(order):
                weaker = RELEASE if order in ("report_order", "await_progress") else ACQUIRE
                self.check_breaks(records(**{order: weaker}), "publisher sleeps forever")

    def test_a_side_that_does_not_recheck_after_setting_its_flag_sleeps_forever(self):
        self.check_breaks(records(shard_rechecks=False), "at_end does not hold")
        self.check_breaks(records(publisher_rechecks=False), "publisher sleeps forever")

    def test_a_record_published_after_the_wake_up_is_left_behind(self):
        self.check_breaks(records(publishes_first=False), "at_end does not hold")

    def test_a_record_is_used_by_one_side_at_a_time(self):
        for order in ("publish_order", "see_record", "report_order", "see_applied"):
            with self.subTest(order):
                self.check_breaks(records(**{order: RELAXED}), "races for record")


class Room(ModelTest):
    def test_a_publisher_that_waits_for_room_is_woken(self):
        self.check_holds(room())

    def test_the_publisher_sleeps_forever_unless_it_wakes_the_shard(self):
        self.check_breaks(room(wakes_shard=False), "publisher sleeps forever")

    def test_a_wake_up_is_lost_if_one_side_is_not_seq_cst(self):
        self.check_breaks(room(await_order=ACQ_REL), "publisher sleeps forever")
        self.check_breaks(room(shard_waits_order=RELEASE), "publisher sleeps forever")
        self.check_breaks(room(is_awaited_order=ACQUIRE), "publisher sleeps forever")


class Limit(ModelTest):
    def test_a_publisher_that_waits_for_the_limit_is_woken(self):
        self.check_holds(limit())

    def test_a_wake_up_is_lost_if_one_side_is_not_seq_cst(self):
        for order in ("await_order", "check_shard", "await_record", "check_limit"):
            with self.subTest(order):
                weaker = RELEASE if order in ("await_order", "await_record") else ACQUIRE
                self.check_breaks(limit(**{order: weaker}), "publisher sleeps forever")

    def test_the_progress_is_released_with_the_number_of_applied_records(self):
        for order in ("report_order", "see_applied"):
            with self.subTest(order):
                self.check_breaks(limit(**{order: RELAXED}), "the progress is older")


class Leases(ModelTest):
    def test_a_segment_is_not_reused_while_the_shard_reads_it(self):
        self.check_holds(leases())

    def test_a_weaker_order_on_either_side_is_a_race(self):
        self.check_breaks(leases(release_order=RELAXED), "races for segment")
        self.check_breaks(leases(take_released_order=RELAXED), "races for segment")


if __name__ == "__main__":
    unittest.main()
