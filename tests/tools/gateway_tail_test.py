#!/usr/bin/env python3
"""Tests gateway_tail as a user would, with a stand-in gateway that drops messages on request.

Run by ctest with the path of the program in TELEGATE_TAIL. Termination and errors: gateway_tail_end_test.py.
"""

import csv
import json
import os
import pty
import signal
import time
import unittest

from tail_process import A, B, TailTest

import zmq


class RecoveryTest(TailTest):
    def test_live_samples_are_shown_once_and_in_order(self):
        tail = self.begun()
        self.served.publish(A, 9)
        self.served.publish(B, 3)
        self.wait_for_seq(tail, B, 3)
        self.assertEqual(self.end(tail), 0)
        self.assertEqual(self.seqs(tail), list(range(1, 11)))
        self.assertEqual(self.entry(tail), {"topic": A, "received": [[1, 10]], "lost": [], "duplicates": 0})
        self.assertIn("13 samples of 2 topics", tail.err())

    def test_a_gap_is_filled_from_the_history(self):
        tail = self.begun()
        self.served.publish(A, 20, is_sent=False)
        self.served.publish(A)
        self.wait_for_seq(tail, A, 22)
        self.assertEqual(self.end(tail), 0)
        self.assertEqual(self.seqs(tail), list(range(1, 23)))
        self.assertEqual(tail.report()["recovered"], 20)
        self.assertIn("20 samples recovered by replay", tail.err())

    def test_samples_that_were_never_published_are_reported_as_lost(self):
        tail = self.begun()
        self.served.drop(A, 12)
        self.served.publish(A)
        self.wait_for_seq(tail, A, 14)
        self.assertEqual(self.end(tail), 1)
        self.assertEqual(self.lost(tail), [(2, 13, "queue_overflow")])
        self.assertIn("12 lost (queue_overflow) host/cpu.user 2..13", tail.err())

    def test_samples_dropped_for_this_subscriber_only_are_recovered(self):
        tail = self.begun()
        self.served.publish(A, 3, is_sent=False)
        self.served.gap(A, 2, 4, "slow")
        self.wait_for_seq(tail, A, 4)
        self.assertEqual(self.end(tail), 0)

    def test_a_heartbeat_notice_reveals_the_loss_of_the_last_sample(self):
        tail = self.begun()
        self.served.publish(A, 1, is_sent=False)
        self.served.beat(A)
        self.wait_for_seq(tail, A, 2)
        self.assertEqual(self.end(tail), 0)

    def test_a_heartbeat_notice_of_a_channel_without_samples_is_accepted_and_ignored(self):
        tail = self.begun()
        self.served.beat(B)
        self.served.publish(B)
        self.wait_for_seq(tail, B, 1)
        self.assertEqual(self.end(tail), 0)
        self.assertNotIn("cannot parse", tail.err())
        self.assertEqual(self.entry(tail, B), {"topic": B, "received": [[1, 1]], "lost": [], "duplicates": 0})

    def test_samples_published_while_disconnected_are_recovered(self):
        tail = self.begun()
        self.served.close_publisher()
        self.wait_for(lambda: "connection lost, reconnecting" in tail.err(), "the message")
        self.served.publish(A, 30)
        self.served.publish(B, 2)
        self.served.open_publisher()
        self.wait_for_seq(tail, A, 31)
        self.wait_for_seq(tail, B, 2)
        self.wait_for(lambda: "reconnected: 32 samples recovered by replay\n" in tail.err(), "the message: " + tail.err())
        self.assertEqual(self.end(tail), 0)

    def test_after_a_restart_the_old_epoch_is_closed_and_the_new_one_is_complete(self):
        tail = self.begun()
        first = self.served.epoch
        self.served.publish(A, 4, is_sent=False)
        self.served.restart()
        self.served.publish(A, 6)
        self.wait_for_seq(tail, A, 6)
        self.assertEqual(self.end(tail), 1)
        self.assertEqual(self.lost(tail, epoch=first), [(2, 5, "not_retained")])
        self.assertEqual(self.seqs(tail), list(range(1, 7)))
        self.assertTrue(tail.report()["epochs"][0]["end_known"])

    def test_an_epoch_with_an_unknown_end_is_reported(self):
        tail = self.begun()
        self.served.restart(is_clean=False)
        self.served.publish(A, 2)
        self.wait_for_seq(tail, A, 2)
        self.assertEqual(self.end(tail), 1)
        self.assertIn("its last samples may be lost", tail.err())
        self.assertFalse(tail.report()["epochs"][0]["end_known"])

    def test_samples_no_longer_in_the_history_are_reported(self):
        tail = self.begun()
        self.served.publish(A, 10, is_sent=False)
        self.served.forget(A, 6)
        self.served.publish(A)
        self.wait_for_seq(tail, A, 12)
        self.assertEqual(self.end(tail), 1)
        self.assertEqual(self.lost(tail), [(2, 6, "not_retained")])
        self.assertEqual(self.entry(tail)["received"], [[1, 1], [7, 12]])

    def test_a_gap_is_lost_after_a_while_without_services(self):
        tail = self.begun()
        self.served.close_services()
        self.served.publish(A, 2, is_sent=False)
        self.served.publish(A)
        self.wait_for_seq(tail, A, 4)
        self.assertEqual(self.end(tail), 1)
        self.assertEqual(self.lost(tail), [(2, 3, "no_answer")])

    def test_busy_and_unanswered_requests_are_repeated(self):
        tail = self.begun()
        self.served.busy, self.served.unanswered = 2, 1
        self.served.publish(A, 2, is_sent=False)
        self.served.publish(A)
        self.wait_for_seq(tail, A, 4)
        self.assertEqual(self.end(tail), 0)

    def test_samples_still_missing_at_the_end_are_lost(self):
        tail = self.begun()
        self.wait_for(lambda: len(self.served.requests) >= 2, "the second snapshot")
        self.served.is_silent = True
        self.served.publish(A, 2, is_sent=False)
        self.served.publish(A)
        before = len(self.served.requests)
        self.wait_for(lambda: len(self.served.requests) > before, "a request")
        self.assertEqual(self.end(tail), 1)
        self.assertEqual(self.lost(tail), [(2, 3, "ended")])
        self.assertEqual(self.seqs(tail), [1, 4])

    def test_without_recovery_no_request_is_sent(self):
        self.gateway()
        tail = self.start([self.served.places["publish"], "--json", "--no-recover"])
        self.wait_for(lambda: self.served.subscribed > 0, "a subscription")
        self.served.publish(A)
        self.served.publish(A, 2, is_sent=False)
        self.served.publish(A)
        self.wait_for_seq(tail, A, 4)
        self.assertEqual(self.end(tail), 1)
        self.assertEqual(self.lost(tail), [(2, 3, "not_asked")])
        self.assertEqual(self.served.requests, [])

    def test_invalid_messages_are_reported_and_do_no_harm(self):
        tail = self.begun()
        for payload in (b"", b"\x81" * 4000, b"\x81" * 100_000, b"[" * 100_000, b"{}", b"\0" * 64, b"\xff" * 640):
            for topic in (A, A + "$gap", A + "$beat", "\x1b[2J"):
                self.served.send(topic, payload)
        self.served.publish(A)
        self.wait_for_seq(tail, A, 2)
        self.assertEqual(self.end(tail), 0)
        self.assertIn("cannot parse a message", tail.err())
        self.assertNotIn("\x1b", tail.err())


class RecoveryOverTcpTest(RecoveryTest):
    transport = "tcp"


class RecoveryOfCborTest(RecoveryTest):
    payload_format = "cbor"


class RecoveryOfRecordsTest(RecoveryTest):
    payload_format = "record"


class OutputTest(TailTest):
    def test_since_shows_the_history_and_continues_live(self):
        gateway = self.gateway()
        gateway.publish(A, 25)
        gateway.publish(B, 3)
        tail = self.tail("--json", "--since", "10m")
        self.wait_for_seq(tail, B, 3)
        gateway.publish(A, 2)
        self.wait_for_seq(tail, A, 27)
        self.assertEqual(self.end(tail), 0)
        self.assertEqual(self.seqs(tail), list(range(1, 28)))
        self.assertEqual([each["since"] for each in gateway.requests if "since" in each], ["600000ms"])

    def test_last_shows_one_value_of_each_topic(self):
        gateway = self.gateway()
        for topic in ("a/x", "a/y", "b/x", "b/y", "c/z"):
            gateway.publish(topic, 3)
        tail = self.tail("--last", "a/", "b/", begins=False)
        self.assertEqual(self.end(tail, None), 0)
        self.assertEqual([line.split()[1:3] for line in tail.lines()],
                         [["a/x", "3.5"], ["a/y", "3.5"], ["b/x", "3.5"], ["b/y", "3.5"]])
        self.assertEqual(tail.err(), "")

    def test_last_reports_topics_that_do_not_exist(self):
        gateway = self.gateway()
        tail = self.tail("--last", begins=False)
        self.assertEqual(self.end(tail, None), 1)
        self.assertEqual(tail.err(), "gateway_tail: no topic has a value yet\n")
        gateway.publish("boiler/temp")
        for prefixes, lines, words in ((["boiler/temps"], 0, ["boiler/temps"]), (["x", "boiler/t", "y\t"], 1, ["x", "y\\x09"]),
                                       (["boiler/"], 1, [])):
            tail = self.tail("--last", *prefixes, begins=False)
            self.assertEqual(self.end(tail, None), 1 if words else 0)
            self.assertEqual(len(tail.lines()), lines)
            self.assertEqual(tail.err(), "".join(
                f'gateway_tail: no topic that has a value begins with "{word}"\n' for word in words))

    def test_last_is_aligned_from_the_first_line_on(self):
        gateway = self.gateway()
        for topic in ("a/x", "b/a.topic.that.is.much.longer"):
            gateway.publish(topic)
        tail = self.tail("--last", begins=False)
        self.assertEqual(self.end(tail, None), 0)
        self.assertEqual(len({line.index("1.5 %") for line in tail.lines()}), 1, tail.out())

    def test_last_with_follow_continues_live(self):
        gateway = self.gateway()
        gateway.publish(A, 3)
        tail = self.tail("--json", "--last", "--follow")
        gateway.publish(A)
        self.wait_for_seq(tail, A, 4)
        self.assertEqual(self.end(tail), 0)
        self.assertEqual(self.seqs(tail), [3, 4])

    def test_count_ends_the_program(self):
        gateway = self.gateway()
        tail = self.tail("--json", "--count", "3")
        gateway.publish(A, 10)
        self.assertEqual(self.end(tail, None), 0)
        self.assertEqual(self.seqs(tail), [1, 2, 3])

    def test_duration_ends_the_program(self):
        self.gateway()
        began = time.monotonic()
        self.assertEqual(self.end(self.tail("--duration", "3s"), None), 0)
        self.assertGreaterEqual(time.monotonic() - began, 2.9)

    def test_json_lines_equal_the_published_samples(self):
        gateway = self.gateway()
        tail = self.tail("--json", "--count", "3")
        gateway.publish(A, 3)
        self.assertEqual(self.end(tail, None), 0)
        self.assertEqual([json.loads(line) for line in tail.lines()], gateway.history)

    def test_csv_is_a_table_with_a_header(self):
        gateway = self.gateway()
        tail = self.tail("--csv", "--count", "2")
        gateway.publish(A, 2)
        self.assertEqual(self.end(tail, None), 0)
        rows = list(csv.DictReader(tail.lines()))
        self.assertEqual([(row["topic"], row["seq"], row["value"], row["unit"]) for row in rows],
                         [(A, "1", "1.5", "%"), (A, "2", "2.5", "%")])

    def test_text_in_a_file_is_aligned_and_has_no_color(self):
        gateway = self.gateway()
        tail = self.tail("--count", "2")
        gateway.publish(A, 2)
        self.assertEqual(self.end(tail, None), 0)
        self.assertEqual(tail.lines()[0], "2026-11-20T23:11:01.000Z  host/cpu.user                1.5 %     good")

    def test_color_is_used_on_a_terminal_unless_no_color_is_set(self):
        for environment, is_colored in (({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False)):
            with self.subTest(environment=environment):
                gateway = self.gateway()
                ours, theirs = pty.openpty()
                tail = self.tail("--count", "1", stdout=theirs, environment=environment)
                gateway.publish(A)
                self.assertEqual(self.end(tail, None), 0)
                self.assertEqual(b"\x1b[32mgood" in os.read(ours, 4096), is_colored)
                os.close(ours)
                os.close(theirs)
                gateway.close()

    def test_quiet_shows_the_summary_only(self):
        gateway = self.gateway()
        tail = self.tail("--quiet", "--count", "2")
        gateway.publish(A, 2)
        self.assertEqual(self.end(tail, None), 0)
        self.assertEqual(tail.out(), "")
        self.assertIn("2 samples of 1 topic ", tail.err())


class CurveTest(TailTest):
    def setUp(self):
        super().setUp()
        if not zmq.has("curve"):
            self.skipTest("libzmq without CURVE")
        self.public, self.secret = zmq.curve_keypair()

    def key_file(self, name, key, mode):
        path = os.path.join(self.scratch, name)
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, mode), "wb") as file:
            file.write(key + b"\n")
        return path

    def begin(self, *arguments):
        self.gateway(keys=(self.secret, self.public))
        return self.tail("--json", "--curve-server-key", self.public.decode(), *arguments)

    def check(self, tail):
        self.served.publish(A)
        self.wait_for_seq(tail, A, 1)
        self.served.publish(A, 2, is_sent=False)
        self.served.publish(A)
        self.wait_for_seq(tail, A, 4)
        self.assertEqual(self.end(tail), 0)

    def test_both_sockets_are_encrypted(self):
        self.check(self.begin())

    def test_one_of_both_sockets_may_be_encrypted(self):
        for which in ("publish", "services"):
            with self.subTest(which):
                served = self.gateway(keys=(self.secret, self.public), encrypts=(which,))
                self.check(self.tail("--json", "--curve-server-key", self.public.decode(), "--curve-for", which))
                served.close()

    def test_a_key_for_services_without_curve_names_the_option(self):
        self.gateway(keys=(self.secret, self.public), encrypts=("publish",))
        tail = self.tail("--json", "--curve-server-key", self.public.decode(), begins=False)
        self.wait_for(lambda: "use --curve-for publish" in tail.err(), "the message")
        self.end(tail, signal.SIGTERM)

    def test_keys_are_read_from_files(self):
        ours = self.key_file("ours.secret", zmq.curve_keypair()[1], 0o600)
        server = self.key_file("server.public", self.public, 0o644)
        self.gateway(keys=(self.secret, self.public))
        self.check(self.tail("--json", "--curve-server-key", server, "--curve-secret-key-file", ours))

    def test_a_missing_key_file_is_named(self):
        done = self.run_tail("tcp://127.0.0.1:5556", "--curve-server-key", "/none/server.public")
        self.assertEqual(done.returncode, 66)
        self.assertIn("/none/server.public", done.stderr)


if __name__ == "__main__":
    unittest.main()
