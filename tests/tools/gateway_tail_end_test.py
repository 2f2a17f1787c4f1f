#!/usr/bin/env python3
"""Termination, connection problems and command-line errors of gateway_tail.

Run by ctest with the path of the program in TELEGATE_TAIL.
"""

import os
import pathlib
import select
import signal
import socket
import subprocess
import time
import unittest

from tail_process import A, B, TAIL, TailTest
from stand_in_gateway import DEADLINE_S


class EndTest(TailTest):
    def test_an_unreachable_gateway_is_exit_code_69(self):
        place = f"ipc://{self.scratch}/none-pub.ipc"
        done = self.run_tail(place, "--duration", "200ms")
        self.assertEqual((done.returncode, done.stderr),
                         (69, "gateway_tail: cannot reach the gateway: nothing was received\n"))
        self.gateway()
        tail = self.start([place])
        self.wait_for(lambda: "waiting for" in tail.err(), "the waiting")
        self.assertEqual(self.end(tail), 69)

    def test_published_samples_that_were_not_received_are_requested_at_the_end(self):
        tail = self.begun()
        self.wait_for(lambda: len(self.served.requests) >= 2, "the second snapshot")
        self.served.publish(A, 30, is_sent=False)
        self.served.publish(B, 2, is_sent=False)
        self.assertEqual(self.end(tail), 0)
        self.assertEqual((self.seqs(tail), self.seqs(tail, B)), (list(range(1, 32)), [1, 2]))

    def test_samples_published_while_the_process_was_stopped_are_recovered_without_live_samples(self):
        tail = self.begun()
        self.wait_for(lambda: len(self.served.requests) >= 2, "the second snapshot")
        tail.process.send_signal(signal.SIGSTOP)
        self.served.publish(A, 3, is_sent=False)
        end = time.monotonic() + 1.5
        self.wait_for(lambda: time.monotonic() > end, "a while")
        tail.process.send_signal(signal.SIGCONT)
        self.wait_for_seq(tail, A, 4)
        self.assertEqual(self.end(tail), 0)

    def test_the_last_samples_are_in_doubt_without_a_last_snapshot(self):
        for word, lose in (("no reply from the services", lambda: setattr(self.served, "is_silent", True)),
                           ("no connection", lambda: self.served.close_publisher())):
            with self.subTest(word):
                tail = self.begun()
                self.wait_for(lambda: len(self.served.requests) >= 2, "the second snapshot")
                lose()
                if self.served.publisher is None:
                    self.wait_for(lambda: "connection lost" in tail.err(), "the message")
                self.assertEqual(self.end(tail), 1)
                self.assertIn(f"0 lost\n  the last published samples may be missing: {word}\n", tail.err())
                self.assertEqual(tail.report()["doubts"], ["end"])
                self.assertEqual([each["end_known"] for each in tail.report()["epochs"]], [False])
                self.served.close()

    def test_nothing_is_in_doubt_after_count_is_reached(self):
        gateway = self.gateway()
        tail = self.tail("--json", "--count", "2")
        gateway.is_silent = True
        gateway.publish(A, 5)
        self.wait_for(lambda: tail.process.poll() is not None, "the end")
        self.assertEqual(tail.process.returncode, 0, tail.err())
        self.assertEqual((tail.report()["doubts"], tail.report()["epochs"][0]["end_known"]), ([], True))

    def test_without_recovery_the_end_of_an_epoch_is_not_requested(self):
        self.gateway()
        tail = self.start([self.served.places["publish"], "--json", "--no-recover"])
        self.wait_for(lambda: self.served.subscribed > 0, "a subscription")
        self.served.publish(A)
        self.wait_for_seq(tail, A, 1)
        first = self.served.epoch
        self.served.restart()
        self.wait_for(lambda: self.served.subscribed > 0, "a subscription")
        self.served.publish(A)
        self.wait_for_seq(tail, A, 1)
        self.assertEqual(self.end(tail), 1)
        self.assertIn(f"the gateway was not queried (--no-recover) for the end of epoch {first}: its last samples may be lost",
                      tail.err())
        self.assertNotIn("nothing was missed", tail.err())
        self.assertNotIn("does not know", tail.err())

    def test_a_connection_problem_is_reported_once_in_plain_words(self):
        gateway = self.gateway()
        tail = self.start([gateway.places["services"], "--services", gateway.places["publish"], "--duration", "6s"])
        self.assertEqual(self.end(tail, None), 69)
        self.assertEqual(tail.err().count("not a publish endpoint: is this the services endpoint?"), 1, tail.err())
        self.assertEqual(tail.err().count("not a services endpoint: is this the publish endpoint?"), 1, tail.err())

    def test_services_that_refuse_requests_are_reported(self):
        gateway = self.gateway()
        gateway.refusal = {"code": "bad_request", "detail": "no snapshots today", "pointer": "/service"}
        tail = self.tail("--json", "--since", "10m")
        gateway.publish(A)
        self.wait_for_seq(tail, A, 1)
        self.assertEqual(self.end(tail), 1)
        self.assertIn("refused the request: bad_request: no snapshots today; there is no history; starting with live samples",
                      tail.err())
        self.assertIn("0 lost\n  samples requested with --since are missing: the services refused the request\n", tail.err())
        self.assertEqual(tail.report()["doubts"], ["since", "end"])
        self.assertNotIn("no reply", tail.err())

    def test_an_unknown_key_is_omitted_from_requests_to_an_older_gateway(self):
        gateway = self.gateway()
        gateway.unknown_keys = {"removed"}
        tail = self.tail("--json")
        gateway.publish(A)
        self.wait_for_seq(tail, A, 1)
        gateway.publish(A, 3, is_sent=False)
        gateway.publish(A)
        self.wait_for_seq(tail, A, 5)
        self.assertEqual(self.end(tail), 0)
        self.assertEqual(sum("removed" in request for request in gateway.requests), 1)
        self.assertNotIn("refuse", tail.err())

    def test_a_history_that_begins_later_than_requested_is_reported(self):
        gateway = self.gateway()
        gateway.publish(A, 3)
        for since, count in (("2026-11-20T23:00:00Z", 1), ("1700-01-01T00:00:00Z", 1), ("2026-11-20T23:11:01Z", 0)):
            tail = self.tail("--json", "--since", since)
            self.wait_for_seq(tail, A, 3)
            self.assertEqual(self.end(tail), 0)
            self.assertEqual(tail.err().count("the history begins at 2026-11-20T23:11:01.000Z"), count, tail.err())
            gateway.requests.clear()

    def test_last_without_a_reply_is_exit_code_69(self):
        gateway = self.gateway()
        gateway.is_silent = True
        tail = self.tail("--last", "--duration", "3s", begins=False)
        self.assertEqual(self.end(tail, None), 69)
        self.assertIn("sent no reply", tail.err())

    def test_waiting_for_an_unreachable_gateway_is_reported_once(self):
        place = f"ipc://{self.scratch}/none-pub.ipc"
        done = self.run_tail(place, "--connect-timeout", "4s")
        self.assertEqual(done.returncode, 69)
        self.assertEqual(done.stderr.count("waiting for " + place), 1)

    def test_last_without_services_is_exit_code_69(self):
        done = self.run_tail(f"ipc://{self.scratch}/none-pub.ipc", "--last", "--connect-timeout", "100ms")
        self.assertEqual(done.returncode, 69)

    def test_last_does_not_wait_long_for_unreachable_services_of_a_reachable_gateway(self):
        gateway = self.gateway()
        place = f"ipc://{self.scratch}/none-services.ipc"
        began = time.monotonic()
        done = self.run_tail(gateway.places["publish"], "--services", place, "--last")
        self.assertEqual(done.returncode, 69)
        self.assertIn(f"the services at {place} are unreachable\n", done.stderr)
        self.assertTrue(4.5 < time.monotonic() - began < 20)

    def test_last_waits_for_services_until_the_given_timeout(self):
        gateway = self.gateway()
        gateway.publish(A)
        gateway.close_services()
        gateway.places["services"] = f"ipc://{self.scratch}/late-services.ipc"
        tail = self.tail("--services", gateway.places["services"], "--last", "--connect-timeout", "5m", begins=False)
        end = time.monotonic() + 6
        self.wait_for(lambda: time.monotonic() > end, "more than the default timeout")
        gateway.open_services()
        self.assertEqual(self.end(tail, None), 0, tail.err())
        self.assertEqual(len(tail.lines()), 1)

    def test_last_gives_up_services_that_do_not_reply(self):
        gateway = self.gateway()
        gateway.is_silent = True
        tail = self.tail("--last", begins=False)
        self.assertEqual(self.end(tail, None), 69)
        self.assertEqual(tail.err().count("no reply"), 1, tail.err())

    def test_since_without_services_is_reported_and_continues_live(self):
        gateway = self.gateway()
        gateway.close_services()
        tail = self.start([gateway.places["publish"], "--json", "--since", "10m"])
        self.wait_for(lambda: gateway.subscribed > 0, "a subscription")
        gateway.publish(A)
        self.wait_for_seq(tail, A, 1)
        self.assertEqual(self.end(tail), 1)
        self.assertIn("there is no history; starting with live samples", tail.err())

    def test_a_reader_that_closes_the_output_ends_the_program_silently(self):
        gateway = self.gateway()
        ours, theirs = os.pipe()
        tail = self.tail("--json", stdout=theirs)
        os.close(theirs)
        os.close(ours)
        gateway.publish(A)
        self.assertEqual(self.end(tail, None), 0)
        self.assertEqual(tail.err(), "")

    def test_a_blocked_reader_does_not_prevent_termination(self):
        gateway = self.gateway()
        ours, theirs = os.pipe()
        tail = self.tail("--json", stdout=theirs)
        gateway.publish(A, 3000)
        self.wait_for(lambda: not select.select([], [theirs], [], 0)[1], "a full pipe")
        self.assertIn(self.end(tail, signal.SIGTERM), (0, 1))
        os.close(theirs)
        os.close(ours)

    def test_a_full_output_device_is_an_error(self):
        gateway = self.gateway()
        with open("/dev/full", "w", encoding="utf-8") as full:
            tail = self.tail("--json", stdout=full)
            gateway.publish(A)
            self.assertEqual(self.end(tail, None), 74)

    def test_a_standard_output_closed_at_start_is_reported(self):
        for arguments, word in (([f"ipc://{self.scratch}/none-pub.ipc", "--json"], ": standard output is closed"),
                                (["--help"], "")):
            done = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', TAIL, *arguments], stderr=subprocess.PIPE, text=True,
                                  timeout=DEADLINE_S)
            self.assertEqual((done.returncode, done.stderr), (74, f"gateway_tail: cannot write the output{word}\n"))

    def test_closed_standard_descriptors_are_not_reused(self):
        gateway = self.gateway()
        tail = subprocess.Popen(["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', TAIL, gateway.places["publish"], "--quiet"])
        self.addCleanup(tail.wait)
        self.addCleanup(tail.kill)
        self.wait_for(lambda: gateway.subscribed > 0 and gateway.requests, "a subscription")
        places = [os.readlink(f"/proc/{tail.pid}/fd/{number}") for number in range(3)]
        self.assertEqual(places, ["/dev/null"] * 3)
        tail.send_signal(signal.SIGTERM)
        self.wait_for(lambda: tail.poll() is not None, "the end")
        self.assertEqual(tail.returncode, 0)

    def test_an_unwritable_report_is_an_error_at_the_start(self):
        report = f"{self.scratch}/none/report"
        done = self.run_tail(f"ipc://{self.scratch}/none-pub.ipc", "--report", report)
        self.assertEqual((done.returncode, done.stderr),
                         (74, f'gateway_tail: --report: cannot write "{report}": No such file or directory\n'))

    def test_an_invalid_command_line_is_reported_with_the_allowed_values(self):
        place = "tcp://127.0.0.1:5556"
        for arguments, word in ((["tcp://127.0.0.1:0"], "PORT is 1 to 65535"), ([], "ENDPOINT"), ([place, "--since", "soon"], "--since"),
                                ([place, "--json", "--csv"], "--csv"), ([place, "--follow"], "--last"),
                                ([f"ipc://{self.scratch}/x"], "--services"), (["tcp://127.0.0.1:65535"], "--services"),
                                ([place, "--count", "0"], '--count: invalid count "0": must be a whole number from 1'),
                                ([place, "--count", "1.5"], '--count: invalid count "1.5"'), ([place, "--count", "-1"], '--count: invalid count "-1"'),
                                ([place, "--count", "18446744073709551616"], '--count: invalid count "1844'),
                                ([place, "--services", "ipc://*"], '--services: cannot connect to "ipc://*": must be'),
                                (["ipc://*"], 'ENDPOINT: cannot connect to "ipc://*": must be'), ([place, "--duration", "1"], '"1"'),
                                ([place, "--duration", "1y"], "ms, s, m, h or d"),
                                ([place, "--color", "blue"], '--color: invalid value "blue": must be auto, always or never'), ([place, "--curve-secret-key-file", "x"], "--curve"),
                                ([place, "--curve-server-key", "x", "--curve-for", "all"], '--curve-for: invalid value "all": must be both, publish or services'),
                                ([place, "--curve-for", "publish"], "--curve-server-key"),
                                ([place, "--no-recover", "--last"], "--no-recover"),
                                ([place, "--curve-server-key", ""], '--curve-server-key: invalid value "": must be a public key'),
                                ([place, "--curve-server-key="], '--curve-server-key'),
                                ([place, "--curve-server-key", "", "--curve-secret-key-file", "x"], '--curve-server-key: invalid value ""'),
                                ([place, "--curve-secret-key-file", "", "--curve-server-key", "x"], '--curve-secret-key-file: invalid value ""'),
                                ([place, "--since", ""], '--since: invalid value ""'), ([place, "--services", ""], '--services: invalid value ""'),
                                ([place, "--report", ""], '--report: invalid value ""'), ([place, "--duration", ""], '--duration: invalid value ""'),
                                ([place, "x" * 257], 'xxx"... has 257 bytes; must be at most 256'),
                                ([place, "--no-recover", "x" * 1025], "TOPIC"), ([place, b"\xff"], "invalid UTF-8"),
                                ([place, "--since", "2999-01-01T00:00:00Z"],
                                 '"2999-01-01T00:00:00Z" is out of range: must be 1678-01-01T00:00:00Z to 2261-12-31T23:59:59.999999999Z'),
                                ([place, "--since", "0001-01-01T00:00:00Z"], "is out of range"),
                                ([place, "--since", "\x1b[2J"], '--since: invalid age or time "\\x1b[2J"'), ([place, "--\x1b"], "--\\x1b"), (["inproc://x"], "must be")):
            done = self.run_tail(*arguments)
            self.assertEqual((done.returncode, done.stdout), (64, ""), arguments)
            self.assertIn(word, done.stderr)
            self.assertNotIn("any free", done.stderr)

    def test_exit_codes_agree_in_help_page_and_manual(self):
        source = pathlib.Path(__file__).resolve().parents[2]
        codes = self.run_tail("--help").stdout.split("Exit codes:\n")[1].split("\n\n")[0]
        codes = [line.strip().split(None, 1) for line in codes.splitlines()]
        self.assertEqual([code for code, _ in codes], ["0", "1", "64", "66", "69", "70", "74"])
        page = (source / "docs/tail.md").read_text(encoding="utf-8")
        manual = (source / "packaging/man/gateway_tail.1").read_text(encoding="utf-8")
        for code, words in codes:
            self.assertIn(f"| {code} | {words} |", page)
            self.assertIn(f".TP\n.B {code}\n{words}\n", manual.replace("\\-", "-"))

    def test_help_and_version_are_complete(self):
        done = self.run_tail("--help")
        self.assertEqual(done.returncode, 0)
        for word in ("--since", "--curve-server-key", "Exit codes:", "samples were or may have been lost"):
            self.assertIn(word, done.stdout)
        done = self.run_tail("--version")
        self.assertRegex(done.stdout, r"^telegate \d")

    def test_the_default_services_endpoint_is_the_next_port(self):
        with socket.socket() as any_port:
            any_port.bind(("127.0.0.1", 0))
            port = any_port.getsockname()[1]
        if port == 65535:
            self.skipTest("no next port")
        done = self.run_tail(f"tcp://localhost:{port}", "--last", "--connect-timeout", "4s")
        self.assertIn(f"waiting for tcp://localhost:{port + 1}", done.stderr)


if __name__ == "__main__":
    unittest.main()
