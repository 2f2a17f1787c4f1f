#!/usr/bin/env python3
"""How gateway_tail ends, what it says of troubles, and what it refuses.

Run by ctest with the program's path in TELEGATE_TAIL.
"""

import os
import pathlib
import select
import signal
import socket
import subprocess
import time
import unittest

from tail_process import A, B, TAIL, TailProcess, TailTest
from stand_in_gateway import DEADLINE_S


class HowItEnds(TailTest):
    def run_tail(self, *arguments):
        return subprocess.run([TAIL, *arguments], capture_output=True, text=True, timeout=DEADLINE_S)

    def test_a_gateway_that_was_never_reached_is_unavailable(self):
        place = f"ipc://{self.scratch}/none-pub.ipc"
        done = self.run_tail(place, "--duration", "200ms")
        self.assertEqual((done.returncode, done.stderr),
                         (69, "gateway_tail: the gateway was never reached: nothing was received\n"))
        self.gateway()
        tail = TailProcess(self.scratch, [place])
        self.addCleanup(tail.kill)
        self.wait_for(lambda: "waiting for" in tail.err(), "the waiting")
        self.assertEqual(self.end(tail), 69)

    def test_what_was_published_and_not_read_is_fetched_at_the_end(self):
        tail = self.begun()
        self.wait_for(lambda: len(self.served.requests) >= 2, "the second look")
        self.served.publish(A, 30, is_sent=False)
        self.served.publish(B, 2, is_sent=False)
        self.assertEqual(self.end(tail), 0)
        self.assertEqual((self.seqs(tail), self.seqs(tail, B)), (list(range(1, 32)), [1, 2]))

    def test_what_was_published_while_it_was_stopped_is_shown_though_nothing_comes_live(self):
        tail = self.begun()
        self.wait_for(lambda: len(self.served.requests) >= 2, "the second look")
        tail.process.send_signal(signal.SIGSTOP)
        self.served.publish(A, 3, is_sent=False)
        end = time.monotonic() + 1.5
        self.wait_for(lambda: time.monotonic() > end, "a while")
        tail.process.send_signal(signal.SIGCONT)
        self.wait_for_seq(tail, A, 4)
        self.assertEqual(self.end(tail), 0)

    def test_what_was_published_last_is_in_doubt_when_nobody_can_say(self):
        for word, lose in (("the services gave no answer", lambda: setattr(self.served, "is_silent", True)),
                           ("there was no connection", lambda: self.served.close_publisher())):
            with self.subTest(word):
                tail = self.begun()
                self.wait_for(lambda: len(self.served.requests) >= 2, "the second look")
                lose()
                if self.served.publisher is None:
                    self.wait_for(lambda: "connection lost" in tail.err(), "a word of it")
                self.assertEqual(self.end(tail), 1)
                self.assertIn(f"0 lost\n  what was published last may be missing: {word}\n", tail.err())
                self.assertEqual(tail.report()["doubts"], ["end"])
                self.assertEqual([each["end_known"] for each in tail.report()["epochs"]], [False])
                self.served.close()

    def test_after_count_nothing_is_in_doubt(self):
        gateway = self.gateway()
        tail = self.tail("--json", "--count", "2")
        gateway.is_silent = True
        gateway.publish(A, 5)
        self.wait_for(lambda: tail.process.poll() is not None, "the end")
        self.assertEqual(tail.process.returncode, 0, tail.err())
        self.assertEqual((tail.report()["doubts"], tail.report()["epochs"][0]["end_known"]), ([], True))

    def test_without_recovery_the_end_of_an_epoch_is_not_asked(self):
        self.gateway()
        tail = TailProcess(self.scratch, [self.served.places["publish"], "--json", "--no-recover"])
        self.addCleanup(tail.kill)
        self.wait_for(lambda: self.served.subscribed > 0, "a subscription")
        self.served.publish(A)
        self.wait_for_seq(tail, A, 1)
        first = self.served.epoch
        self.served.restart()
        self.wait_for(lambda: self.served.subscribed > 0, "a subscription")
        self.served.publish(A)
        self.wait_for_seq(tail, A, 1)
        self.assertEqual(self.end(tail), 1)
        self.assertIn(f"not asked (--no-recover) how epoch {first} ended: its last samples may be lost", tail.err())
        self.assertNotIn("nothing was missed", tail.err())
        self.assertNotIn("cannot say", tail.err())

    def test_the_same_trouble_is_said_once_and_in_plain_words(self):
        gateway = self.gateway()
        tail = TailProcess(self.scratch, [gateway.places["services"], "--services", gateway.places["publish"],
                                          "--duration", "2s"])
        self.addCleanup(tail.kill)
        self.assertEqual(self.end(tail, None), 69)
        self.assertEqual(tail.err().count("no publish endpoint; are the services there?"), 1, tail.err())
        self.assertEqual(tail.err().count("no services; is the publish endpoint there?"), 1, tail.err())

    def test_services_that_refuse_are_said_to_refuse(self):
        gateway = self.gateway()
        gateway.refusal = {"code": "bad_request", "detail": "no snapshots today", "pointer": "/service"}
        tail = self.tail("--json", "--since", "10m")
        gateway.publish(A)
        self.wait_for_seq(tail, A, 1)
        self.assertEqual(self.end(tail), 1)
        self.assertIn("refuse: bad_request: no snapshots today; there is nothing from before; it begins with", tail.err())
        self.assertIn("0 lost\n  what --since asks for is missing: the services refused\n", tail.err())
        self.assertEqual(tail.report()["doubts"], ["since", "end"])
        self.assertNotIn("no answer", tail.err())

    def test_an_older_gateway_is_asked_without_the_key_that_it_does_not_know(self):
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

    def test_a_history_that_begins_later_than_asked_is_said(self):
        gateway = self.gateway()
        gateway.publish(A, 3)
        for since, count in (("2026-11-20T23:00:00Z", 1), ("1700-01-01T00:00:00Z", 1), ("2026-11-20T23:11:01Z", 0)):
            tail = self.tail("--json", "--since", since)
            self.wait_for_seq(tail, A, 3)
            self.assertEqual(self.end(tail), 0)
            self.assertEqual(tail.err().count("the history begins at 2026-11-20T23:11:01.000Z"), count, tail.err())
            gateway.requests.clear()

    def test_last_without_an_answer_is_unavailable(self):
        gateway = self.gateway()
        gateway.is_silent = True
        tail = self.tail("--last", "--duration", "300ms", begins=False)
        self.assertEqual(self.end(tail, None), 69)
        self.assertIn("gave no answer", tail.err())

    def test_a_gateway_that_is_not_there_is_waited_for_and_said_once(self):
        place = f"ipc://{self.scratch}/none-pub.ipc"
        done = subprocess.run([TAIL, place, "--connect-timeout", "1500ms"], capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertEqual(done.returncode, 69)
        self.assertEqual(done.stderr.count("waiting for " + place), 1)

    def test_last_without_services_is_unavailable(self):
        done = subprocess.run([TAIL, f"ipc://{self.scratch}/none-pub.ipc", "--last", "--connect-timeout", "100ms"],
                              capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertEqual(done.returncode, 69)

    def test_last_does_not_wait_for_services_that_are_not_there_beside_a_gateway_that_is(self):
        gateway = self.gateway()
        place = f"ipc://{self.scratch}/none-services.ipc"
        began = time.monotonic()
        done = self.run_tail(gateway.places["publish"], "--services", place, "--last")
        self.assertEqual(done.returncode, 69)
        self.assertIn(f"the services at {place} are not reachable\n", done.stderr)
        self.assertTrue(4.5 < time.monotonic() - began < 20)

    def test_last_waits_for_services_as_long_as_it_is_told_to(self):
        gateway = self.gateway()
        gateway.publish(A)
        gateway.close_services()
        gateway.places["services"] = f"ipc://{self.scratch}/late-services.ipc"
        tail = self.tail("--services", gateway.places["services"], "--last", "--connect-timeout", "5m", begins=False)
        end = time.monotonic() + 6
        self.wait_for(lambda: time.monotonic() > end, "more than the usual time")
        gateway.open_services()
        self.assertEqual(self.end(tail, None), 0, tail.err())
        self.assertEqual(len(tail.lines()), 1)

    def test_last_gives_up_services_that_do_not_answer(self):
        gateway = self.gateway()
        gateway.is_silent = True
        tail = self.tail("--last", begins=False)
        self.assertEqual(self.end(tail, None), 69)
        self.assertEqual(tail.err().count("no answer"), 1, tail.err())

    def test_since_without_services_is_said_and_goes_on_live(self):
        gateway = self.gateway()
        gateway.close_services()
        tail = TailProcess(self.scratch, [gateway.places["publish"], "--json", "--since", "10m"])
        self.addCleanup(tail.kill)
        self.wait_for(lambda: gateway.subscribed > 0, "a subscription")
        gateway.publish(A)
        self.wait_for_seq(tail, A, 1)
        self.assertEqual(self.end(tail), 1)
        self.assertIn("there is nothing from before; it begins with what comes live", tail.err())

    def test_a_reader_that_leaves_ends_it_quietly(self):
        gateway = self.gateway()
        ours, theirs = os.pipe()
        tail = self.tail("--json", stdout=theirs)
        os.close(theirs)
        os.close(ours)
        gateway.publish(A)
        self.assertEqual(self.end(tail, None), 0)
        self.assertEqual(tail.err(), "")

    def test_a_reader_that_does_not_read_does_not_keep_it_from_ending(self):
        gateway = self.gateway()
        ours, theirs = os.pipe()
        tail = self.tail("--json", stdout=theirs)
        gateway.publish(A, 3000)
        self.wait_for(lambda: not select.select([], [theirs], [], 0)[1], "a full pipe")
        self.assertIn(self.end(tail, signal.SIGTERM), (0, 1))
        os.close(theirs)
        os.close(ours)

    def test_an_output_that_is_full_is_an_error(self):
        gateway = self.gateway()
        with open("/dev/full", "w", encoding="utf-8") as full:
            tail = self.tail("--json", stdout=full)
            gateway.publish(A)
            self.assertEqual(self.end(tail, None), 74)

    def test_an_output_that_was_closed_at_the_start_is_an_error_with_its_name(self):
        for arguments, word in (([f"ipc://{self.scratch}/none-pub.ipc", "--json"], ": standard output is closed"),
                                (["--help"], "")):
            done = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', TAIL, *arguments], stderr=subprocess.PIPE, text=True,
                                  timeout=DEADLINE_S)
            self.assertEqual((done.returncode, done.stderr), (74, f"gateway_tail: the output cannot be written{word}\n"))

    def test_no_descriptor_of_its_own_takes_the_place_of_one_that_was_closed(self):
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

    def test_a_report_that_cannot_be_written_is_an_error_at_the_start(self):
        report = f"{self.scratch}/none/report"
        done = self.run_tail(f"ipc://{self.scratch}/none-pub.ipc", "--report", report)
        self.assertEqual((done.returncode, done.stderr),
                         (74, f'gateway_tail: --report: "{report}" cannot be written: No such file or directory\n'))

    def test_wrong_use_is_told_with_what_is_allowed(self):
        place = "tcp://127.0.0.1:5556"
        for arguments, word in ((["tcp://127.0.0.1:0"], "a port from 1 to 65535"), ([], "ENDPOINT"), ([place, "--since", "soon"], "--since"),
                                ([place, "--json", "--csv"], "--csv"), ([place, "--follow"], "--last"),
                                ([f"ipc://{self.scratch}/x"], "--services"), (["tcp://127.0.0.1:65535"], "--services"),
                                ([place, "--count", "0"], '--count: "0" is not a count, allowed: a whole number from 1'),
                                ([place, "--count", "1.5"], '--count: "1.5"'), ([place, "--count", "-1"], '--count: "-1"'),
                                ([place, "--count", "18446744073709551616"], '--count: "1844'),
                                ([place, "--services", "ipc://*"], '--services: "ipc://*" cannot be connected to'),
                                (["ipc://*"], 'ENDPOINT: "ipc://*" cannot be connected to'), ([place, "--duration", "1"], '"1"'),
                                ([place, "--duration", "1y"], "ms, s, m, h or d"),
                                ([place, "--color", "blue"], '--color: "blue" is not known, allowed: auto, always, never'), ([place, "--curve-secret-key-file", "x"], "--curve"),
                                ([place, "--curve-server-key", "x", "--curve-for", "all"], '--curve-for: "all" is not known, allowed: both, publish, services'),
                                ([place, "--curve-for", "publish"], "--curve-server-key"),
                                ([place, "--no-recover", "--last"], "--no-recover"),
                                ([place, "--curve-server-key", ""], '--curve-server-key: "" is not a value, allowed: a public key'),
                                ([place, "--curve-server-key="], '--curve-server-key'),
                                ([place, "--curve-server-key", "", "--curve-secret-key-file", "x"], '--curve-server-key: ""'),
                                ([place, "--curve-secret-key-file", "", "--curve-server-key", "x"], '--curve-secret-key-file: ""'),
                                ([place, "--since", ""], '--since: ""'), ([place, "--services", ""], '--services: ""'),
                                ([place, "--report", ""], '--report: ""'), ([place, "--duration", ""], '--duration: ""'),
                                ([place, "x" * 257], 'xxx"... has 257 bytes, allowed: at most 256'),
                                ([place, "--no-recover", "x" * 1025], "TOPIC"), ([place, b"\xff"], "is not UTF-8"),
                                ([place, "--since", "2999-01-01T00:00:00Z"],
                                 '"2999-01-01T00:00:00Z" is out of range, allowed: 1678-01-01T00:00:00Z to 2261-12-31T23:59:59.999999999Z'),
                                ([place, "--since", "0001-01-01T00:00:00Z"], "is out of range"),
                                ([place, "--since", "\x1b[2J"], '--since: "\\x1b[2J"'), ([place, "--\x1b"], "--\\x1b"), (["inproc://x"], "allowed")):
            done = subprocess.run([TAIL, *arguments], capture_output=True, text=True, timeout=DEADLINE_S)
            self.assertEqual((done.returncode, done.stdout), (64, ""), arguments)
            self.assertIn(word, done.stderr)
            self.assertNotIn("any free", done.stderr)

    def test_exit_codes_are_the_same_in_all_places(self):
        source = pathlib.Path(__file__).resolve().parents[2]
        codes = self.run_tail("--help").stdout.split("Exit codes:\n")[1].split("\n\n")[0]
        codes = [line.strip().split(None, 1) for line in codes.splitlines()]
        self.assertEqual([code for code, _ in codes], ["0", "1", "64", "66", "69", "70", "74"])
        page = (source / "docs/tail.md").read_text(encoding="utf-8")
        manual = (source / "packaging/man/gateway_tail.1").read_text(encoding="utf-8")
        for code, words in codes:
            self.assertIn(f"| {code} | {words} |", page)
            self.assertIn(f".TP\n.B {code}\n{words}\n", manual.replace("\\-", "-"))

    def test_help_and_version_say_what_there_is(self):
        done = subprocess.run([TAIL, "--help"], capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertEqual(done.returncode, 0)
        for word in ("--since", "--curve-server-key", "Exit codes:", "something was lost"):
            self.assertIn(word, done.stdout)
        done = subprocess.run([TAIL, "--version"], capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertRegex(done.stdout, r"^telegate \d")

    def test_the_next_port_has_the_services(self):
        with socket.socket() as any_port:
            any_port.bind(("127.0.0.1", 0))
            port = any_port.getsockname()[1]
        if port == 65535:
            self.skipTest("the last port")
        done = subprocess.run([TAIL, f"tcp://localhost:{port}", "--last", "--connect-timeout", "1200ms"], capture_output=True,
                              text=True, timeout=DEADLINE_S)
        self.assertIn(f"waiting for tcp://localhost:{port + 1}", done.stderr)


if __name__ == "__main__":
    unittest.main()
