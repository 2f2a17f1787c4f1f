"""The oracle of shapes.py finds what it is for: each kind of loss, of wrong samples and of wrong ledgers."""

import copy
import struct
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from shape_checks import RECORD, Life, Seen, shortened, status_faults, truth_faults  # noqa: E402
from shape_draw import Deployment  # noqa: E402

KEY = (7, "d/x")
LEDGER = {"sampled": 10, "published": 6, "filtered": 1, "queued": 1, "dropped": {"queue_overflow": 2, "shutdown": 0}, "balanced": True}
PEER = {"matched": 5, "sent": 3, "dropped": 1, "pending": 1, "balanced": True}
STATUS = {"ledger": {"balanced": True, "total": LEDGER, "devices": {"d": LEDGER}}, "queue": {},
          "transport": {**PEER, "subscribers": [PEER]}, "consumers": [{"name": "history", "taken": 6, "missing": 2}],
          "uplinks": [{"name": "u", "samples": {"read": 6, "acknowledged": 5, "in_flight": 1, "quarantined": 0, "gaps": 0,
                                                "returned": 0, "balanced": True}}]}


class SentTruth:
    name, topics = "d", ["d/x"]

    def __init__(self, times, is_exact=True):
        self.times, self.is_exact = times, is_exact

    def newest(self, before):
        return sum(each <= before for each in self.times)


def seen_with(seqs, gaps=(), base=0):
    seen = Seen("log")
    for seq in seqs:
        seen.sample(*KEY, seq, base + seq)
    for gap in gaps:
        seen.gap(*KEY, *gap)
    return seen


def life(truth, at, killed_s=None, base=0):
    found = Life([truth])
    found.bases, found.epoch = {"d": base}, KEY[0]
    found.end(at if truth.is_exact else at + 1, 0, killed_s)
    return found


class Coverage(unittest.TestCase):
    def faults(self, *arguments, **options):
        return list(seen_with(*arguments).coverage_faults(**options))

    def test_samples_and_gaps_that_follow_one_another_are_complete(self):
        self.assertEqual(self.faults([1, 2, 5], [(3, 4, "crash")]), [])

    def test_a_number_that_is_neither_received_nor_missing_is_found(self):
        for seqs, gaps in (([2], []), ([1, 3], []), ([1], [(3, 4, "crash")]), ([1, 2, 6], [(3, 4, "crash")])):
            self.assertEqual(len(self.faults(seqs, gaps)), 1, (seqs, gaps))

    def test_a_sample_that_is_also_missing_is_found_unless_an_uplink_repeats_it(self):
        self.assertTrue(self.faults([1, 2, 3], [(3, 4, "crash")]))
        self.assertFalse(self.faults([1, 2, 3], [(3, 4, "crash")], may_overlap=True))

    def test_a_repeated_sample_is_counted(self):
        self.assertEqual(seen_with([1, 1, 2]).repeated, 1)

    def test_a_reason_that_nothing_explains_is_found(self):
        seen = seen_with([1], [(2, 3, "retention")])
        self.assertEqual(list(seen.reason_faults({"retention"})), [])
        self.assertTrue(list(seen.reason_faults({"crash"})))

    def test_unknown_and_damaged_samples_are_never_explained(self):
        for reason in ("unknown", "damaged"):
            self.assertTrue(list(seen_with([1], [(2, 3, reason)]).reason_faults({reason})))


class Truths(unittest.TestCase):
    def faults(self, seen, end, truth=SentTruth([1, 2, 3]), base=0):
        return list(truth_faults(seen, truth, life(truth, *end, base=base)))

    def test_everything_that_was_sent_is_there(self):
        self.assertEqual(self.faults(seen_with([1, 2, 3]), (9,)), [])

    def test_a_sample_that_never_arrived_is_found(self):
        self.assertTrue(self.faults(seen_with([1, 2]), (9,)))
        self.assertTrue(self.faults(Seen("log"), (9,)))
        self.assertFalse(self.faults(seen_with([1, 2]), (2.5,)), "it was sent later")

    def test_a_sample_of_another_run_does_not_count(self):
        seen = Seen("log")
        seen.sample(KEY[0] + 1, KEY[1], 3, 3)
        self.assertTrue(self.faults(seen, (9,)))

    def test_a_wrong_value_is_found(self):
        self.assertTrue(self.faults(seen_with([1, 2, 3], base=1), (9,)))
        self.assertFalse(self.faults(seen_with([1, 2], base=1), (9,), base=1))

    def test_a_sample_that_a_crash_may_not_take_is_found(self):
        seen = seen_with([1], [(2, 3, "crash")])
        self.assertTrue(self.faults(seen, (9, 6.5)))
        self.assertFalse(self.faults(seen, (9, 7.5)))

    def test_other_devices_must_have_the_newest_value(self):
        truth = SentTruth([1, 2, 3], is_exact=False)
        self.assertTrue(self.faults(seen_with([1, 2]), (9,), truth))
        self.assertFalse(self.faults(seen_with([1, 2], [(3, 3, "crash")]), (9,), truth))
        self.assertTrue(self.faults(seen_with([1, 2, 3], base=-1), (9,), truth))

    def test_values_that_go_back_are_found(self):
        seen = seen_with([1, 3])
        seen.sample(*KEY, 2, 9)
        self.assertTrue(self.faults(seen, (9,), SentTruth([1, 2, 3], is_exact=False)))


class Statuses(unittest.TestCase):
    def changed(self, *path, value):
        status = copy.deepcopy(STATUS)
        place = status
        for each in path[:-1]:
            place = place[each]
        place[path[-1]] = value
        return list(status_faults(status))

    def test_a_ledger_that_balances_is_good(self):
        self.assertEqual(list(status_faults(STATUS)), [])

    def test_every_sum_is_checked(self):
        for path in (("ledger", "total", "sampled"), ("ledger", "total", "published"), ("ledger", "total", "filtered"),
                     ("ledger", "total", "queued"), ("ledger", "total", "dropped", "shutdown"), ("ledger", "devices", "d", "sampled"),
                     ("transport", "matched"), ("transport", "sent"), ("transport", "subscribers", 0, "dropped"),
                     ("transport", "subscribers", 0, "pending"), ("uplinks", 0, "samples", "read"),
                     ("uplinks", 0, "samples", "acknowledged"), ("uplinks", 0, "samples", "returned"), ("consumers", 0, "taken")):
            self.assertTrue(self.changed(*path, value=99), path)

    def test_a_ledger_that_says_that_it_does_not_balance_is_found(self):
        for path in (("ledger", "balanced"), ("ledger", "devices", "d", "balanced"), ("transport", "balanced"),
                     ("transport", "subscribers", 0, "balanced"), ("uplinks", 0, "samples", "balanced")):
            self.assertTrue(self.changed(*path, value=False), path)


class Messages(unittest.TestCase):
    def test_records_and_json_of_an_uplink_are_read_alike(self):
        json_seen, record_seen = Seen("uplink"), Seen("uplink")
        json_seen.add_message("json", b'{"device":"d","channel":"x","epoch":7,"seq":1,"value":5}\n'
                                      b'{"device":"d","channel":"x","epoch":7,"first_seq":2,"last_seq":4,"reason":"retention"}')
        sample = RECORD.pack(0, 7, 1, 2, 0, 0, 0, 0, struct.pack("<q24x", 5))
        gap = RECORD.pack(0, 7, 2, 16, 2, 0, 0, 0, struct.pack("<QB23x", 4, 9))
        record_seen.add_message("record", struct.pack("<II", 1, 8) + b"d/x\n\n\n\n\n" + sample + gap)
        self.assertEqual(json_seen.samples, {KEY: {1: 5}})
        self.assertEqual(json_seen.gaps, {KEY: [(2, 4, "retention")]})
        self.assertEqual((json_seen.samples, json_seen.gaps), (record_seen.samples, record_seen.gaps))

    def test_many_faults_are_counted(self):
        self.assertEqual(shortened("abc", 3), ["a", "b", "c"])
        self.assertEqual(shortened("abcde", 3), ["a", "b", "c", "... and 2 more"])


class Draws(unittest.TestCase):
    def test_a_seed_always_draws_the_same(self):
        self.assertEqual(str(Deployment(5)), str(Deployment(5)))
        self.assertNotEqual(str(Deployment(5)), str(Deployment(6)))

    def test_at_least_a_third_has_no_subscriber(self):
        alone = [seed for seed in range(1, 201) if "no subscriber" in Deployment(seed).traits()]
        self.assertGreaterEqual(3 * len(alone), 200)


if __name__ == "__main__":
    unittest.main(verbosity=2)
