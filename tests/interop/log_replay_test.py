"""A subscriber that was disconnected gets all samples from the durable log, long after they have left the history.

Run by ctest with TELEGATE_GATEWAY_APP and TELEGATE_SOURCE_DIR.
"""

import http.client
import json
import os
import re
import signal
import subprocess
import unittest

from services_peer import Asker
from gateway_process import DEADLINE_S, Gateway, eventually

HISTORY_SAMPLES = 1024
SETTINGS = """[gateway]
history_bytes = 65536
queue_size = 65536
state_file = {folder}/state.json
[rest]
listen = 127.0.0.1:0
[publish "all"]
endpoint = tcp://127.0.0.1:0
[services "all"]
endpoint = tcp://127.0.0.1:0
[log]
path = {folder}/log
[device "sim"]
driver = simulated
interval_ms = 1
waveforms = counter, sine, square
"""
TOPICS = ["sim/counter", "sim/sine", "sim/square"]
MANY = 6 * HISTORY_SAMPLES


class LogReplayTest(unittest.TestCase):
    settings = SETTINGS

    def setUp(self):
        self.gateway = Gateway(self.settings)
        self.addCleanup(self.gateway.close)
        self.connect()

    def connect(self):
        self.asker = Asker(self.gateway.services[0])
        self.addCleanup(self.asker.close)
        self.epoch = self.asker.ask("ping")["epoch"]

    def restart(self, how=signal.SIGTERM):
        self.gateway.stop(how)
        self.gateway.start()
        self.connect()

    def wait_for(self, samples):
        self.assertTrue(eventually(lambda: self.asker.ask("ping")["position"] >= samples))

    def replay(self, **first):
        """Returns the samples of all pages up to now or to the end of the epoch, and the number of missed ones."""
        samples, missed, request = [], 0, first
        now = self.asker.ask("ping")["position"]
        while True:
            answer = self.asker.ask("replay", limit=10_000, **request)
            self.assertNotIn("error", answer)
            samples += answer["samples"]
            missed += answer["missed"]
            if answer["end"] or (first.get("epoch", self.epoch) == self.epoch and answer["position"] >= now):
                return samples, missed
            request = {**{key: first[key] for key in first if key != "since"}, "position": answer["position"]}

    def holes(self, holes, **more):
        """Returns the samples of all pages, and the last page."""
        samples, gone = [], []
        while holes:
            answer = self.asker.ask("replay", limit=2_000, holes=holes, **more)
            self.assertNotIn("error", answer)
            samples += answer["samples"]
            gone += answer["gone"]
            holes = answer["left"]
        return samples, gone, answer

    def request(self, method, path, **fields):
        """Repeats the request while the gateway responds with 503, because it is busy."""
        address = re.findall(r" running rest=http://(\S+)", self.gateway.log())[-1]

        def response():
            connection = http.client.HTTPConnection(address, timeout=DEADLINE_S)
            self.addCleanup(connection.close)
            connection.request(method, path, headers=fields)
            found.append(connection.getresponse())
            return found[-1].status != 503
        found = []
        eventually(response)
        self.assertEqual(200, found[-1].status)
        return found[-1]

    def check_complete(self, samples, epoch, at_least):
        """Each topic has all numbers from 1, once and in order."""
        by_topic = {topic: [] for topic in TOPICS}
        for sample in samples:
            self.assertEqual(epoch, sample["epoch"])
            by_topic[sample["device"] + "/" + sample["channel"]].append(sample["seq"])
        for topic, seqs in by_topic.items():
            self.assertEqual(list(range(1, len(seqs) + 1)), seqs, topic)
        self.assertGreaterEqual(len(samples), at_least)
        return {topic: len(seqs) for topic, seqs in by_topic.items()}


class PartlyLogged(LogReplayTest):
    settings = SETTINGS.replace("[log]\n", "[log]\ndevices = s*\n") + """[device "other"]
driver = simulated
interval_ms = 3
waveforms = counter
"""

    def split(self, samples):
        """Returns the samples of the logged device, and the numbers of the other one."""
        return ([each for each in samples if each["device"] == "sim"],
                [each["seq"] for each in samples if each["device"] == "other"])

    def test_a_device_that_is_not_logged_is_replayed_from_the_history_alone(self):
        self.wait_for(MANY)
        self.request("POST", "/stop")
        for start in ({"position": 0}, {"since": "1h"}):
            samples, missed = self.replay(**start)
            self.assertEqual(0, missed)
            logged, others = self.split(samples)
            self.check_complete(logged, self.epoch, MANY // 2)
            self.assertEqual(list(range(others[0], others[-1] + 1)), others)
            self.assertGreater(others[0], 1)
        samples, gone, _ = self.holes([{"topic": "other/counter", "first_seq": 1, "last_seq": 9}])
        lost = {"topic": "other/counter", "first_seq": 1, "last_seq": 9, "reason": "not_retained"}
        self.assertEqual(([], [lost]), (samples, gone))

    def test_a_device_that_is_not_logged_is_not_lost_with_an_earlier_run(self):
        self.wait_for(MANY)
        past = self.epoch
        self.restart()
        samples, missed = self.replay(epoch=past, position=0)
        self.assertEqual(0, missed)
        logged, others = self.split(samples)
        self.check_complete(logged, past, MANY // 2)
        self.assertEqual([], others)
        self.assertEqual({0}, set(self.asker.ask("status")["status"]["log"]["dropped"].values()))


class LogReplay(LogReplayTest):
    def test_a_replay_from_a_position_or_time_reaches_back_into_the_log(self):
        self.wait_for(MANY)
        for start in ({"position": 0}, {"since": "1h"}, {"since": "2020-01-01T00:00:00Z"}):
            samples, missed = self.replay(**start)
            self.assertEqual(0, missed)
            self.check_complete(samples, self.epoch, MANY)

    def test_reads_of_the_log_are_counted(self):
        self.wait_for(MANY)
        self.replay(position=0)
        metrics = self.request("GET", "/metrics").read().decode()
        counts = dict(re.findall(r"^telegate_log_(read\S+?)(?:_total)? (\d+)$", metrics, re.M))
        self.assertGreater(int(counts["read_pages"]), 0)
        self.assertGreaterEqual(int(counts["read_samples"]), MANY - 2 * HISTORY_SAMPLES)
        self.assertEqual([counts['reads_failed_total{reason="%s"}' % reason] for reason in ("refused", "failed")], ["0", "0"])

    def test_holes_are_filled_from_the_log(self):
        self.wait_for(MANY + len(TOPICS))
        every = [{"topic": topic, "first_seq": 1, "last_seq": MANY // len(TOPICS)} for topic in TOPICS]
        samples, gone, _ = self.holes(every)
        self.assertEqual([], gone)
        self.check_complete(samples, self.epoch, MANY)
        samples, gone, _ = self.holes([{"topic": "sim/sine", "first_seq": 10, "last_seq": 20}])
        self.assertEqual((list(range(10, 21)), []), ([each["seq"] for each in samples], gone))

    def test_everything_of_an_earlier_run_can_be_replayed(self):
        self.wait_for(MANY)
        past = self.epoch
        self.restart()
        samples, gone, last = self.holes([{"topic": topic, "first_seq": 1} for topic in TOPICS], epoch=past)
        self.assertEqual([], gone)
        self.assertNotIn("end_known", last)
        counts = self.check_complete(samples, past, MANY)
        samples, missed = self.replay(epoch=past, position=0)
        self.assertEqual((0, counts), (missed, self.check_complete(samples, past, MANY)))
        beyond = [{"topic": topic, "first_seq": count, "last_seq": count + 5} for topic, count in counts.items()]
        samples, gone, _ = self.holes(beyond, epoch=past)
        self.assertEqual((list(counts.values()), []), ([each["seq"] for each in samples], gone))

    def test_a_replay_from_a_time_starts_in_an_earlier_run_and_continues_in_this_one(self):
        self.wait_for(MANY)
        past = self.epoch
        self.restart()
        answer = self.asker.ask("replay", since="1h", earlier_runs=True, limit=10)
        self.assertEqual((past, 10), (answer["samples_epoch"], len(answer["samples"])))
        while not answer["end"]:
            answer = self.asker.ask("replay", epoch=past, position=answer["position"], limit=10_000)
        self.assertEqual((past, self.epoch), (answer["samples_epoch"], answer["next_epoch"]))
        self.assertNotIn("samples_epoch", self.asker.ask("replay", since="1h", limit=1))

    @unittest.skipUnless("TELEGATE_TAIL" in os.environ, "gateway_tail is not built")
    def test_gateway_tail_outputs_the_samples_of_all_runs_since_a_time(self):
        self.wait_for(MANY)
        past = self.epoch
        self.restart()
        lasts = {each["topic"]: each["last_seq"] for each in self.asker.ask("catalog", epoch=past)["channels"]}
        command = [os.environ["TELEGATE_TAIL"], self.gateway.endpoints[0], "--services", self.gateway.services[0],
                   "--json", "--since", "1h", "--count", str(sum(lasts.values()) + 30)]
        tail = subprocess.run(command, capture_output=True, timeout=2 * DEADLINE_S, text=True)
        self.assertEqual(0, tail.returncode, tail.stderr)
        numbers = {topic: [] for topic in TOPICS}
        for line in tail.stdout.splitlines():
            sample = json.loads(line)
            numbers[sample["device"] + "/" + sample["channel"]].append((sample["epoch"], sample["seq"]))
        for topic, found in numbers.items():
            last = lasts[topic]
            expected = [(past, seq) for seq in range(1, last + 1)]
            expected += [(self.epoch, seq) for seq in range(1, len(found) - last + 1)]
            self.assertEqual(expected, found)

    def test_the_end_of_a_run_that_was_killed_is_unknown(self):
        self.wait_for(MANY)
        self.replay(position=0)  # the log has what the history has lost
        past = self.epoch
        self.restart(signal.SIGKILL)
        samples, gone, last = self.holes([{"topic": topic, "first_seq": 1} for topic in TOPICS], epoch=past)
        self.assertEqual([], gone)
        self.assertIs(False, last["end_known"])
        counts = self.check_complete(samples, past, MANY - 2 * HISTORY_SAMPLES)
        beyond = counts["sim/sine"] + 7
        _, gone, _ = self.holes([{"topic": "sim/sine", "first_seq": beyond, "last_seq": beyond + 2}], epoch=past)
        self.assertEqual([{"topic": "sim/sine", "first_seq": beyond, "last_seq": beyond + 2, "reason": "crash"}], gone)

    def test_the_catalog_has_the_oldest_time_that_can_be_replayed(self):
        self.assertTrue(eventually(lambda: "oldest_time" in self.asker.ask("catalog")))
        self.wait_for(HISTORY_SAMPLES)
        oldest = self.asker.ask("catalog")["oldest_time"]
        self.restart()
        self.assertEqual(oldest, self.asker.ask("catalog")["oldest_time"])

    def get(self, path):
        return json.load(self.request("GET", path))

    def samples(self, query):
        """Returns the samples and gaps of all pages of the channel sine."""
        samples, gaps = [], []
        page = self.get(f"/samples/sim/sine?limit=1500&{query}")
        while True:
            samples += page["samples"]
            gaps += page["gaps"]
            if not page["more"]:
                return samples, gaps
            page = self.get("/samples/sim/sine?limit=1500&epoch={epoch}&since_seq={since_seq}".format(**page["next"]))

    def check_numbers(self, samples, gaps, epoch):
        """Samples and gaps of an epoch are all numbers from 1. Returns the last one."""
        seqs = [sample["seq"] for sample in samples if sample["epoch"] == epoch]
        for gap in gaps:
            seqs += range(gap["first_seq"], gap["last_seq"] + 1) if gap["epoch"] == epoch else []
        self.assertEqual(list(range(1, len(seqs) + 1)), sorted(seqs))
        return len(seqs)

    def test_the_samples_of_a_channel_continue_in_the_log_and_across_a_reload(self):
        self.wait_for(MANY)
        samples, gaps = self.samples("since_seq=0")
        self.assertEqual([], gaps)
        last = self.check_numbers(samples, gaps, self.epoch)
        self.assertGreaterEqual(last, MANY // len(TOPICS) - 1)
        self.request("POST", "/-/reload")
        self.request("POST", "/stop")
        self.assertGreaterEqual(self.check_numbers(*self.samples("since_seq=0"), self.epoch), last)
        self.assertGreaterEqual(self.check_numbers(*self.samples("since=1h"), self.epoch), last)

    def test_the_samples_of_a_run_that_was_killed_are_read_and_aggregated(self):
        self.wait_for(MANY)
        self.samples("since_seq=0")  # the log has what the history has lost
        past = self.epoch
        self.restart(signal.SIGKILL)
        self.wait_for(MANY)
        self.request("POST", "/stop")
        samples, gaps = self.samples(f"epoch={past}")
        self.assertLessEqual({gap["reason"] for gap in gaps if gap["epoch"] == past}, {"crash"})
        lasts = [self.check_numbers(samples, gaps, epoch) for epoch in (past, self.epoch)]
        self.assertGreater(lasts[0], (MANY - 2 * HISTORY_SAMPLES) // len(TOPICS))
        self.assertEqual({past, self.epoch}, {sample["epoch"] for sample in samples})
        until = samples[-1]["time"]
        table = self.get(f"/samples/sim/sine?since=1h&until={until}&interval=1s&aggregate=min,max,mean,count")
        self.assertEqual(len(samples) - 1, sum(table["count"]))
        self.assertEqual(sum(gap["last_seq"] - gap["first_seq"] + 1 for gap in gaps), sum(table["missing"]))
        self.assertEqual(min(sample["value"] for sample in samples[:-1]), min(table["min"]))
        self.assertEqual(max(sample["value"] for sample in samples[:-1]), max(table["max"]))
        self.assertEqual(sorted(table["time_ms"]), table["time_ms"])
        self.assertEqual({0}, {time % 1000 for time in table["time_ms"]})

    def stream(self, last_id, until):
        """Returns the samples and gaps of an event stream that continues after an id, up to `until` samples of this run."""
        response = self.request("GET", "/stream", **{"Last-Event-ID": last_id})
        samples, gaps, event = [], [], ""
        while until > 0:
            line = response.readline().decode().rstrip("\n")
            if line.startswith("event: "):
                event = line.removeprefix("event: ")
            elif line.startswith("data: "):
                data = json.loads(line.removeprefix("data: "))
                (samples if event == "sample" else gaps).append(data)
                until -= event == "sample" and data["epoch"] == self.epoch
        return samples, gaps

    def test_an_event_stream_continues_in_the_log_and_in_this_run(self):
        self.wait_for(MANY)
        samples, gaps = self.stream(f"{self.epoch}-0", MANY)
        self.assertEqual([], gaps)
        first, _ = self.replay(position=0)
        self.check_complete(first[:1] + samples, self.epoch, MANY)
        past = self.epoch
        self.restart()
        samples, gaps = self.stream(f"{past}-0", HISTORY_SAMPLES)
        self.assertEqual([("restart", self.epoch, 0)], [(gap["reason"], gap["epoch"], gap["missed"]) for gap in gaps])
        self.check_complete(first[:1] + [each for each in samples if each["epoch"] == past], past, MANY)
        self.check_complete([each for each in samples if each["epoch"] == self.epoch], self.epoch, HISTORY_SAMPLES)

    def test_an_event_stream_continues_in_all_runs_that_it_has_missed(self):
        first = self.epoch
        runs = []
        for how in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM):
            self.wait_for(MANY)
            self.replay(position=0)  # the log has what the history has lost
            runs.append(self.epoch)
            self.restart(how)
        samples, gaps = self.stream(f"{first}-0", HISTORY_SAMPLES)
        self.assertEqual([("restart", epoch) for epoch in (*runs[1:], self.epoch)],
                         [(gap["reason"], gap["epoch"]) for gap in gaps])
        self.assertEqual([0, None, 0], [gap.get("missed") for gap in gaps])
        seqs = {epoch: {topic: [0] * (epoch == first and topic == TOPICS[0]) for topic in TOPICS} for epoch in runs}
        for each in samples:
            if each["epoch"] in seqs:
                seqs[each["epoch"]][each["device"] + "/" + each["channel"]].append(each["seq"])
        for epoch, topics in seqs.items():
            self.assertGreaterEqual(sum(map(len, topics.values())), MANY - 2 * HISTORY_SAMPLES)
            for topic, found in topics.items():
                begin = 2 if found[:1] == [0] else 1  # the sample with the id of the client
                found = [seq for seq in found if seq > 0]
                self.assertEqual(list(range(begin, begin + len(found))), found, (epoch, topic))

    def test_an_epoch_that_the_log_does_not_have_is_unknown(self):
        self.assertEqual(("unknown_epoch", "/epoch"),
                         self.asker.refusal({"service": "replay", "epoch": 1, "position": 0})[0::2])


if __name__ == "__main__":
    unittest.main()
