"""The services tested as a user would: gateway_app with REQ and DEALER sockets of pyzmq.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP.
"""

import json
import os
import re
import resource
import signal
import stat
import subprocess
import unittest

from services_peer import CHECK_MEMORY, SOURCE, Asker, check, zmq
from gateway_process import DEADLINE_S, Gateway, eventually

SETTINGS = """sampling_interval_ms = 5
queue_size = QUEUE
state_file = {folder}/state.json
[rest]
listen = 127.0.0.1:0
[publish "ipc"]
endpoint = ipc://{folder}/pub.ipc
[services "tcp"]
endpoint = tcp://127.0.0.1:0
[services "ipc"]
endpoint = ipc://{folder}/services.ipc
[device "simulated"]
driver = simulated
waveforms = sine, counter
"""
COUNTER, SINE = "simulated/counter", "simulated/sine"


def settings(queue=4096, more=""):
    return SETTINGS.replace("QUEUE", str(queue)) + more


def seqs(samples):
    return [sample["seq"] for sample in samples]


class ServicesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Large enough for all samples of these tests, even on a slow machine.
        cls.gateway = Gateway("name = plant-7\nhistory_bytes = 64MiB\n" + settings(more="[tags]\nsite = north\n[channel \"%s\"]\ntags = kind=wave\n" % SINE))

    @classmethod
    def tearDownClass(cls):
        cls.gateway.close()

    def setUp(self):
        self.asker = Asker(self.gateway.services[0])
        self.addCleanup(self.asker.close)

    def test_the_catalog_contains_the_name_of_the_gateway(self):
        self.assertEqual(self.asker.ask("catalog")["gateway"], "plant-7")

    def test_the_catalog_and_samples_contain_the_tags_of_the_gateway(self):
        self.assertEqual(self.asker.ask("catalog")["tags"], {"site": "north"})
        self.published(1)
        self.assertEqual(self.asker.ask("snapshot", prefix=COUNTER)["samples"][0]["tags"], {"site": "north"})

    def published(self, count):
        """Waits until this number of counter samples is published. Returns the position."""
        def is_there():
            samples = self.asker.ask("snapshot", prefix=COUNTER)["samples"]
            return samples and samples[0]["seq"] >= count
        self.assertTrue(eventually(is_there))
        return self.asker.ask("ping")["position"]

    def test_req_and_dealer_get_replies_over_tcp_and_ipc_with_their_id(self):
        for endpoint in self.gateway.services:
            for kind in (zmq.REQ, zmq.DEALER):
                asker = Asker(endpoint, kind)
                self.assertEqual(asker.ask("ping", id="seven")["id"], "seven")
                self.assertEqual(asker.ask("ping", id=-7)["id"], -7)
                self.assertNotIn("id", asker.ask("ping"))
                asker.close()

    def test_frames_before_the_request_are_returned(self):
        self.asker.socket.send_multipart([b"a", b"broker", b"", b'{"service":"ping"}'])
        answer = self.asker.socket.recv_multipart()
        self.assertEqual(answer[:3], [b"a", b"broker", b""])
        self.assertEqual(len(answer), 4)

    def test_a_request_of_two_frames_is_an_error(self):
        self.asker.socket.send_multipart([b"a", b"b"])
        self.assertEqual(self.asker.receive()["error"]["code"], "bad_request")

    def test_the_catalog_contains_the_tags_of_channels_that_have_other_ones(self):
        tags = {each["topic"]: each.get("tags") for each in self.asker.ask("catalog")["channels"]}
        self.assertEqual(tags, {COUNTER: None, SINE: {"site": "north", "kind": "wave"}})
        sample = self.asker.ask("snapshot", prefix=SINE)["samples"][0]
        self.assertEqual(sample["tags"], {"site": "north", "kind": "wave"})

    def test_the_catalog_is_ordered_and_paged(self):
        self.published(1)
        whole = self.asker.ask("catalog")
        self.assertEqual([each["topic"] for each in whole["channels"]], [COUNTER, SINE])
        self.assertTrue(whole["end"])
        first = self.asker.ask("catalog", limit=1)
        self.assertEqual(([each["topic"] for each in first["channels"]], first["end"]), ([COUNTER], False))
        second = self.asker.ask("catalog", limit=1, after=COUNTER)
        self.assertEqual(([each["topic"] for each in second["channels"]], second["end"]), ([SINE], True))
        self.assertEqual(self.asker.ask("catalog", prefix="nobody")["channels"], [])

    def test_a_snapshot_has_the_last_sample_of_each_channel_at_its_position(self):
        self.published(10)
        snapshot = self.asker.ask("snapshot")
        replay = self.asker.ask("replay", position=snapshot["position"] - 2)
        self.assertCountEqual(snapshot["samples"], replay["samples"][:2])

    def test_a_replay_continues_at_its_position_until_the_end(self):
        end = self.published(50)
        samples, position, answer = [], 0, {"end": False}
        while not answer["end"]:
            answer = self.asker.ask("replay", prefix=COUNTER, position=position, limit=7)
            self.assertLessEqual(len(answer["samples"]), 7)
            samples += answer["samples"]
            position = answer["position"]
        self.assertGreaterEqual(position, end)
        self.assertEqual(seqs(samples), list(range(1, len(samples) + 1)))
        self.assertGreaterEqual(len(samples), 50)

    def test_a_replay_since_a_time_starts_with_the_first_sample_of_that_time(self):
        self.published(20)
        known = self.asker.ask("replay", position=0, prefix=COUNTER, limit=20)["samples"][9]
        since = self.asker.ask("replay", since=known["time"], prefix=COUNTER, limit=1)
        self.assertEqual(since["samples"], [known])
        self.assertEqual(seqs(self.asker.ask("replay", since="1h", prefix=COUNTER, limit=1)["samples"]), [1])
        self.assertEqual(self.asker.ask("replay", since="2100-01-01T00:00:00Z")["samples"], [])

    def test_holes_are_filled_and_unpublished_seqs_are_not_listed(self):
        self.published(30)
        answer = self.asker.ask("replay", holes=[{"topic": COUNTER, "first_seq": 3, "last_seq": 5},
                                                 {"topic": SINE, "first_seq": 20, "last_seq": 20},
                                                 {"topic": SINE, "first_seq": 10 ** 9},
                                                 {"topic": "no/body", "first_seq": 1, "last_seq": 9}])
        self.assertEqual([(each["channel"], each["seq"]) for each in answer["samples"]],
                         [("counter", 3), ("counter", 4), ("counter", 5), ("sine", 20)])
        self.assertEqual((answer["gone"], answer["left"], answer["end"]), ([], [], True))

    def test_a_limit_leaves_holes_that_can_be_requested_again_with_any_hint(self):
        end = self.published(30)
        for hint in (0, 1, 15, end, 10 ** 12):
            found, holes = [], [{"topic": COUNTER, "first_seq": 2, "last_seq": 12}, {"topic": COUNTER, "first_seq": 20, "last_seq": 21}]
            while holes:
                answer = self.asker.ask("replay", holes=holes, limit=5, position=hint)
                self.assertEqual((answer["gone"], answer["end"]), ([], answer["left"] == []))
                found += seqs(answer["samples"])
                holes, hint = answer["left"], answer["position"]
            self.assertEqual(found, list(range(2, 13)) + [20, 21])

    def test_the_status_is_that_of_rest(self):
        status = self.asker.ask("status")["status"]
        self.assertEqual(status["name"], "telegate")
        self.assertGreaterEqual(status["services"]["peers"], 1)
        self.assertEqual(status["services"]["endpoints"], self.gateway.services)

    def test_each_error_is_reported_with_its_location(self):
        hole = {"topic": COUNTER, "first_seq": 1}
        for request, wanted in (
                (b"", ("bad_request", None)), (b"{", ("bad_request", None)), (b"[]", ("bad_request", None)),
                (b"\xff", ("bad_request", None)), (b"[" * 60000, ("bad_request", None)),
                (b'{"service":"ping","service":"ping"}', ("bad_request", "/service")),
                (b'{"service":"ping"}\0', ("bad_request", None)),
                ({"service": "snapshot", "newer": 1}, ("bad_request", "/newer")),
                ({}, ("bad_request", "/service")), ({"service": 1}, ("bad_request", "/service")),
                ({"service": "pong"}, ("unknown_service", "/service")),
                ({"service": "ping", "id": 1.5}, ("bad_request", "/id")),
                ({"service": "ping", "id": "x" * 65}, ("bad_request", "/id")),
                ({"service": "ping", "limit": 1}, ("bad_request", "/limit")),
                ({"service": "catalog", "limit": 0}, ("bad_request", "/limit")),
                ({"service": "catalog", "limit": 10001}, ("bad_request", "/limit")),
                ({"service": "snapshot", "removed": 1}, ("bad_request", "/removed")),
                ({"service": "catalog", "prefix": "x" * 257}, ("bad_request", "/prefix")),
                ({"service": "replay"}, ("bad_request", None)),
                ({"service": "replay", "position": 1, "since": "1s"}, ("bad_request", "/since")),
                ({"service": "replay", "position": 10 ** 12}, ("bad_request", "/position")),
                ({"service": "replay", "position": -1}, ("bad_request", "/position")),
                ({"service": "replay", "since": "tomorrow"}, ("bad_request", "/since")),
                ({"service": "replay", "since": "10"}, ("bad_request", "/since")),
                ({"service": "replay", "holes": []}, ("bad_request", "/holes")),
                ({"service": "replay", "holes": [hole] * 1001}, ("bad_request", "/holes")),
                ({"service": "replay", "holes": [hole], "prefix": "a"}, ("bad_request", "/prefix")),
                ({"service": "replay", "holes": [hole, {**hole, "first_seq": 0}]}, ("bad_request", "/first_seq")),
                ({"service": "replay", "holes": [{**hole, "last_seq": 0}]}, ("bad_request", "/last_seq")),
                ({"service": "replay", "holes": [{"first_seq": 1}]}, ("bad_request", "/topic")),
                ({"service": "replay", "position": 0, "epoch": 1}, ("unknown_epoch", "/epoch")),
                ({"service": "replay", "holes": [hole], "epoch": 1}, ("unknown_epoch", "/epoch")),
                (b" " * 65537, ("too_large", None))):
            with self.subTest(str(request)[:80]):
                code, detail, pointer = self.asker.refusal(request)
                self.assertEqual(code, wanted[0])
                self.assertTrue(detail)
                self.assertEqual(pointer and "/" + pointer.split("/")[-1], wanted[1], detail)

    def test_a_peer_that_sends_too_large_a_request_is_closed_and_others_are_served(self):
        self.asker.send(b" " * 200000)
        other = Asker(self.gateway.services[0])
        self.assertTrue(eventually(lambda: other.ask("status")["status"]["services"]["violations"] >= 1))
        other.close()

    def test_a_peer_that_sends_requests_endlessly_and_never_reads_costs_little(self):
        self.published(100)
        greedy = Asker(self.gateway.services[0], rcvhwm=1, sndhwm=1, rcvbuf=4096)
        sent = 0
        while sent < 20000 and greedy.socket.poll(300, zmq.POLLOUT):
            greedy.send({"service": "replay", "position": 0} if sent % 2 else {"service": "ping"})
            sent += 1
        status = self.service_status()
        self.assertLess(status["backlog_bytes"], 4 * 1024 * 1024)
        self.assertLessEqual(status["replays_active"], 4)
        greedy.close()
        self.assertTrue(eventually(lambda: self.service_status()["replays_active"] == 0))

    def test_a_thousand_peers_that_never_read_neither_stall_the_gateway_nor_use_much_memory(self):
        self.published(100)
        before = self.memory_bytes()
        bad_requests = self.service_status()["errors"]["bad_request"]
        context = zmq.Context()
        context.max_sockets = 1200
        self.addCleanup(context.term)
        for number in range(1000):
            if number % 100 == 0:  # a handshake that takes too long would fail, and the requests could be lost
                self.assertTrue(eventually(lambda: self.service_status()["peers"] >= number))
            peer = context.socket(zmq.DEALER)
            self.addCleanup(peer.close, 0)
            peer.rcvhwm = 1
            peer.connect("ipc://" + self.gateway.path("services.ipc"))
            peer.send(b"[" * 60000)  # first: a peer that does not read its replies is not read either
            peer.send(json.dumps({"service": "replay", "position": 0, "limit": 10000}).encode())
            peer.send(json.dumps({"service": "snapshot"}).encode())
        self.assertTrue(eventually(lambda: self.service_status()["errors"]["bad_request"] >= bad_requests + 1000),
                        self.service_status())
        self.asker.ask("ping")
        self.assertTrue(not CHECK_MEMORY or self.memory_bytes() - before < 200 * 1024 * 1024)

    def service_status(self):
        return self.asker.ask("status")["status"]["services"]

    def memory_bytes(self):
        with open(f"/proc/{self.gateway.process.pid}/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    def test_every_pipelined_request_gets_one_reply(self):
        count = 3000
        for number in range(count):
            self.asker.send({"service": "ping", "id": number})
        answers = [self.asker.receive()["id"] for _ in range(count)]
        self.assertEqual(answers, list(range(count)))

    def test_more_than_four_replays_of_one_peer_are_busy(self):
        self.published(200)
        for _ in range(40):
            self.asker.send({"service": "replay", "position": 0, "limit": 10000})
        answers = [self.asker.receive() for _ in range(40)]
        errors = [answer["error"]["code"] for answer in answers if "error" in answer]
        self.assertEqual(set(errors), {"busy"})
        self.assertTrue(all("error" in answer or answer["samples"] for answer in answers))

    def test_the_examples_of_the_page_match_the_schema(self):
        with open(os.path.join(SOURCE, "docs/wire.md")) as page:
            section = page.read().split("\n## Services\n")[1].split("\n## ")[0]
        requests = re.findall(r"^> (\{.*\})$", section, re.M)
        answers = re.findall(r"^< (\{.*\})$", section, re.M)
        self.assertGreaterEqual(len(requests), 6)
        self.assertEqual(len(requests), len(answers))
        for request, answer in zip(requests, answers):
            request, answer = json.loads(request), json.loads(answer)
            check("answer", answer)
            if "error" in answer:
                self.asker.send(request)
                self.assertEqual(self.asker.receive()["error"], answer["error"])
            else:
                self.assertEqual(self.asker.ask(**request)["service"], answer["service"])


class EpochTest(unittest.TestCase):
    def begin(self, head="", **more):
        self.gateway = Gateway(head + settings(**more))
        self.addCleanup(self.gateway.close)
        self.asker = Asker("ipc://" + self.gateway.path("services.ipc"))
        self.addCleanup(self.asker.close)

    def wait_for(self, count):
        self.assertTrue(eventually(lambda: self.asker.ask("ping")["position"] >= count))

    def holes(self, epoch, first=1):
        return self.asker.ask("replay", epoch=epoch, holes=[{"topic": COUNTER, "first_seq": first}])

    def test_after_a_clean_stop_the_holes_of_the_old_epoch_are_gone_up_to_its_end(self):
        self.begin()
        self.wait_for(40)
        epoch = self.asker.ask("ping")["epoch"]
        self.gateway.stop()
        with open(self.gateway.path("state.json")) as file:
            last = json.load(file)["epochs"][-1]["channels"][COUNTER]
        self.assertEqual(stat.S_IMODE(os.stat(self.gateway.path("state.json")).st_mode), 0o600)
        self.gateway.start()
        answer = self.holes(epoch, 15)
        self.assertNotEqual(answer["epoch"], epoch)
        self.assertEqual(answer["gone"], [{"topic": COUNTER, "first_seq": 15, "last_seq": last, "reason": "not_retained"}])
        self.assertEqual(self.holes(epoch, last + 1)["gone"], [])

    def test_the_catalog_of_an_earlier_epoch_has_its_channels_and_leads_to_the_next_one(self):
        epochs = []
        self.begin()
        for _ in range(2):
            self.wait_for(10)
            epochs.append(self.asker.ask("ping")["epoch"])
            self.gateway.stop()
            self.gateway.start()
        self.wait_for(1)
        epochs.append(self.asker.ask("ping")["epoch"])
        with open(self.gateway.path("state.json")) as file:
            last = json.load(file)["epochs"][0]["channels"]
        found, answer = {}, {"end": False}
        while not answer["end"]:
            answer = self.asker.ask("catalog", epoch=epochs[0], prefix=COUNTER[:-2], limit=1, after=answer.get("after", ""))
            self.assertEqual((answer["epoch"], answer["next_epoch"]), (epochs[2], epochs[1]))
            found.update({each["topic"]: each["last_seq"] for each in answer["channels"]})
        self.assertEqual(found, {topic: seq for topic, seq in last.items() if topic.startswith(COUNTER[:-2])})
        self.assertEqual(self.asker.ask("catalog", epoch=epochs[1])["next_epoch"], epochs[2])
        self.assertIn("unit", self.asker.ask("catalog", epoch=epochs[2])["channels"][0])
        self.assertEqual(self.asker.ask("catalog", epoch=1)["error"]["code"], "unknown_epoch")

    def test_a_killed_epoch_has_no_known_end(self):
        self.begin()
        self.wait_for(10)
        epoch = self.asker.ask("ping")["epoch"]
        self.gateway.stop(signal.SIGKILL)
        self.gateway.start()
        error = self.holes(epoch)["error"]
        self.assertEqual(error["code"], "unknown_epoch")
        self.assertIn("did not end cleanly", error["detail"])
        catalog = self.asker.ask("catalog", epoch=epoch)
        self.assertEqual((catalog["channels"], catalog["end_known"]), ([], False))
        self.assertIn(f"previous run did not stop cleanly epoch={epoch} ", self.gateway.log())
        ended = self.asker.ask("ping")["epoch"]
        self.gateway.stop()
        self.gateway.start()
        past = self.asker.ask("status")["status"]["previous_runs"]
        self.assertEqual([(each["epoch"], each["stopped_cleanly"]) for each in past], [(epoch, False), (ended, True)])
        self.assertTrue(past[1]["ledger"]["balanced"])
        self.assertEqual(past[1]["ledger"]["queued"], 0)

    def test_a_broken_state_file_is_renamed_and_reported_and_the_gateway_still_starts(self):
        self.begin()
        self.gateway.stop()
        with open(self.gateway.path("state.json"), "w") as file:
            file.write('{"version":1,\n "epochs": [}')
        self.gateway.start()
        self.assertRegex(self.gateway.log(), r"error state file not used file=\S+state.json reason=\"line 2: .*renamed_to=")
        self.assertTrue(os.path.exists(self.gateway.path("state.json.broken")))
        self.gateway.stop(signal.SIGKILL)
        with open(self.gateway.path("state.json"), "w") as file:
            file.write("broken again")
        self.gateway.start()
        self.assertTrue(os.path.exists(self.gateway.path("state.json.broken2")))
        self.wait_for(10)
        with open(self.gateway.path("state.json")) as file:
            self.assertEqual([each["ended"] for each in json.load(file)["epochs"]], [False])

    def test_a_clock_that_was_set_back_loses_no_epoch(self):
        self.begin()
        self.gateway.stop()
        future = 4_000_000_000_000
        with open(self.gateway.path("state.json"), "w") as file:
            json.dump({"version": 1, "epochs": [{"epoch": future, "ended": True, "channels": {COUNTER: 7}}]}, file)
        self.gateway.start()
        self.assertEqual(self.asker.ask("ping")["epoch"], future + 1)
        self.assertEqual(self.holes(future)["gone"][0]["last_seq"], 7)
        self.assertIn("a previous run has a later epoch", self.gateway.log())

    def test_a_second_gateway_with_the_same_state_file_does_not_start(self):
        self.begin()
        ended = subprocess.run(self.gateway.command, stderr=subprocess.PIPE, text=True, timeout=DEADLINE_S)
        self.assertEqual(ended.returncode, 78)
        self.assertIn("state.json is in use by another gateway", ended.stderr)
        self.wait_for(10)

    def test_at_most_eight_epochs_are_kept(self):
        self.begin()
        for _ in range(8):
            self.gateway.stop()
            self.gateway.start()
        with open(self.gateway.path("state.json")) as file:
            epochs = json.load(file)["epochs"]
        self.assertEqual([each["ended"] for each in epochs], [True] * 7 + [False])

    def test_samples_dropped_by_the_queue_are_dropped_and_overwritten_ones_are_not_retained(self):
        self.begin("history_bytes = 256KiB\n", queue=64, more="burst_probability = 0.01\nburst_samples = 3000\n")
        self.wait_for(8000)  # more than twice what the history has
        lost = self.asker.ask("replay", holes=[{"topic": COUNTER, "first_seq": 1, "last_seq": 100}])
        self.assertEqual([each["reason"] for each in lost["gone"]], ["not_retained"])
        self.assertTrue(eventually(self.dropped_are_told))

    def dropped_are_told(self):
        """Requests the newest samples. Returns whether there was a hole, and checks that all holes are reported
        correctly."""
        position = self.asker.ask("ping")["position"] - 1500
        numbers = seqs(self.asker.ask("replay", position=position, prefix=COUNTER, limit=10000)["samples"])
        holes = [{"topic": COUNTER, "first_seq": a + 1, "last_seq": b - 1} for a, b in zip(numbers, numbers[1:]) if b > a + 1]
        if not holes:
            return False
        gone = self.asker.ask("replay", holes=holes)["gone"]
        reasons = {each.pop("reason") for each in gone}
        self.assertEqual(gone, holes)
        return reasons == {"dropped"}  # or overwritten in the meantime

    def test_services_are_added_and_removed_with_the_settings(self):
        self.begin()
        two = settings() + '[services "third"]\nendpoint = ipc://{folder}/third.ipc\n'
        self.gateway.write(two)
        self.gateway.process.send_signal(signal.SIGHUP)
        third = Asker("ipc://" + self.gateway.path("third.ipc"))
        self.addCleanup(third.close)
        third.ask("ping")
        self.gateway.write(settings().replace("services.ipc", "other.ipc"))
        self.gateway.process.send_signal(signal.SIGHUP)
        other = Asker("ipc://" + self.gateway.path("other.ipc"))
        self.addCleanup(other.close)
        other.ask("ping")
        self.assertTrue(eventually(lambda: not os.path.exists(self.gateway.path("third.ipc"))))

    def test_samples_of_a_removed_device_can_still_be_requested(self):
        self.begin()
        self.gateway.write(settings() + '[device "brief"]\ndriver = simulated\nwaveforms = counter\ninterval_ms = 100\n')
        self.gateway.process.send_signal(signal.SIGHUP)
        self.assertTrue(eventually(lambda: self.asker.ask("snapshot", prefix="brief/")["samples"]))
        self.gateway.write(settings())
        self.gateway.process.send_signal(signal.SIGHUP)
        self.assertTrue(eventually(lambda: not self.asker.ask("snapshot", prefix="brief/")["samples"]))
        self.assertEqual(self.asker.ask("catalog", prefix="brief/")["channels"], [])
        # Its last samples may be in the queue for a while.
        self.assertTrue(eventually(lambda: self.asker.ask("status")["status"]["ledger"]["total"]["queued"] == 0))
        last = self.asker.ask("snapshot", prefix="brief/", removed=True)["samples"][0]
        found = self.asker.ask("catalog", prefix="brief/", removed=True)["channels"][0]
        self.assertEqual((found["topic"], found["last_seq"]), ("brief/counter", last["seq"]))
        held = self.asker.ask("replay", holes=[{"topic": "brief/counter", "first_seq": 1}])["samples"]
        self.assertEqual([each["seq"] for each in held], list(range(1, last["seq"] + 1)))

    def test_samples_that_are_too_old_are_no_longer_returned(self):
        self.begin()
        self.gateway.stop()
        self.gateway.write(settings().replace("queue_size", "history_age = 200ms\nqueue_size"))
        self.gateway.start()
        self.wait_for(400)
        answer = self.asker.ask("replay", position=0)
        self.assertGreater(answer["missed"], 0)
        self.assertLess(len(answer["samples"]), 300)
        gone = self.asker.ask("replay", holes=[{"topic": COUNTER, "first_seq": 1, "last_seq": 5}])["gone"]
        self.assertEqual([each["reason"] for each in gone], ["not_retained"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
