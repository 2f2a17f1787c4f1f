"""Logs the samples of a simulated device and replays them in other gateways: the same each time, in json and record.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP.
"""

import os

from device_peers import DeviceTest, main

READS = 120

LOGGED = """[gateway]
queue_size = 65536
[log]
path = {folder}/log
[device "sim"]
driver = simulated
waveforms = sine, square, counter
interval_ms = 10
seed = 42
error_probability = 0.05
errors_before_safe = 0
stuck_probability = 0.03
stuck_time_ms = 50
burst_probability = 0.02
burst_samples = 5
autostart = no
[device "clock"]
driver = clock
interval_ms = 50
autostart = no
[channel "sim/sine"]
unit = Cel
"""
PLAYED = """[gateway]
queue_size = 65536
[publish "record"]
endpoint = tcp://127.0.0.1:0
format = record
[device "sim"]
driver = replay
path = {folder}/%(path)s
%(settings)s
autostart = no
"""
TIMED, STEPPED = "speed = 4", "mode = stepped\ninterval_ms = 5"


def content(samples):
    """Returns the members that are the same each time."""
    return {topic: [(each["seq"], each["value"], each["quality"]) for each in of_topic]
            for topic, of_topic in samples.items()}


class Replay(DeviceTest):
    def setUp(self):
        self.folder = self.scratch()

    def log(self, settings=LOGGED):
        """Returns the samples that a subscriber received from the logged devices, in order."""
        gateway = self.start(settings, self.folder)
        reader = self.reader(gateway)
        gateway.text("/start", "POST")
        self.eventually(lambda: gateway.device("sim")["reads"] >= READS, "readings")
        gateway.text("/stop", "POST")
        self.complete(gateway, [reader])
        gateway.stop()
        self.assertEqual(0, gateway.process.returncode)
        qualities = {each["quality"] for each in reader.of("sim/sine")}
        self.assertEqual({"good", "uncertain", "bad"}, qualities, "the log contains all of them")
        return reader

    def complete(self, gateway, readers):
        """Returns whether the readers received all sampled values."""
        def got_all():
            ledger = gateway.status()["ledger"]["total"]
            sampled = ledger["sampled"]
            return ledger["queued"] == 0 and all(sum(map(len, each.read().values())) == sampled for each in readers)
        self.eventually(got_all, "all samples", lambda: (gateway.status()["ledger"]["total"], [
            sum(map(len, each.read().values())) for each in readers]))
        self.assertEqual({"queue_overflow": 0, "shutdown": 0}, gateway.status()["ledger"]["total"]["dropped"])

    def play(self, path, settings, count):
        """Returns the samples received in each format after `count` samples were replayed."""
        gateway = self.start(PLAYED % {"path": path, "settings": settings}, self.folder)
        readers = [self.reader(gateway), self.reader(gateway, endpoint=1, form="record")]
        gateway.text("/devices/sim/start", "POST")
        self.eventually(lambda: gateway.status()["ledger"]["total"]["sampled"] >= count, f"{count} samples",
                        lambda: (gateway.status()["ledger"]["total"], gateway.device("sim")))
        reads = gateway.device("sim")["reads"]
        if settings.startswith("mode"):
            self.eventually(lambda: gateway.device("sim")["reads"] > reads + 2, "no further samples at the end")
        self.complete(gateway, readers)
        device = gateway.device("sim")
        self.assertEqual(("measuring", 0), (device["state"], device["reads_failed"]))
        gateway.stop()
        self.assertEqual(0, gateway.process.returncode)
        return readers

    def test_one_device_is_replayed_the_same_each_time(self):
        original = self.log()
        sim = {topic: part for topic, part in original.read().items() if topic.startswith("sim/")}
        order = [topic for topic in original.order if topic.startswith("sim/")]
        count = len(order)
        as_it_was = "\nsource = sim\nuse_time = recorded"
        runs = [self.play("log", settings + as_it_was, count) for settings in (TIMED, TIMED, STEPPED)]
        for number, (json_reader, record_reader) in enumerate(runs):
            with self.subTest(run=number):
                self.assertEqual(content(sim), content(json_reader.read()))
                self.assertEqual(content(sim), content(record_reader.read()))
                self.assertEqual(order, json_reader.order)
                self.assertEqual([each["time"] for each in sim["sim/counter"]],
                                 [each["time"] for each in json_reader.of("sim/counter")])
                self.assertEqual({"Cel"}, {each["unit"] for each in json_reader.of("sim/sine")})

    def test_all_devices_of_a_log_are_replayed_with_current_times(self):
        original = self.log()
        expected = {"sim/" + topic.replace("/", "."): part for topic, part in content(original.read()).items()}
        order = ["sim/" + topic.replace("/", ".") for topic in original.order]
        runs = [self.play("log", TIMED, len(order)) for _ in range(2)]
        for json_reader, record_reader in runs:
            self.assertEqual(expected, content(json_reader.read()))
            self.assertEqual(expected, content(record_reader.read()))
            self.assertEqual(order, json_reader.order)
            epochs = {each["epoch"] for part in record_reader.read().values() for each in part}
            self.assertEqual(1, len(epochs))
            self.assertNotEqual(original.of("sim/sine")[0]["epoch"], epochs.pop())
            self.assertGreater(json_reader.of("sim/sim.sine")[0]["time"], original.of("sim/sine")[-1]["time"])

    def test_a_log_of_one_device_has_only_its_samples(self):
        original = self.log(LOGGED.replace("[log]\n", "[log]\ndevices = s*\n"))
        sim = {topic: part for topic, part in original.read().items() if topic.startswith("sim/")}
        self.assertNotEqual(sim.keys(), original.read().keys())
        json_reader, record_reader = self.play("log", STEPPED, sum(map(len, sim.values())))
        expected = {"sim/" + topic.replace("/", "."): part for topic, part in content(sim).items()}
        self.assertEqual(expected, content(json_reader.read()))
        self.assertEqual(expected, content(record_reader.read()))

    def test_the_replay_restarts_after_a_reset(self):
        original = self.log()
        sim = content({topic: part for topic, part in original.read().items() if topic.startswith("sim/")})
        count = sum(map(len, sim.values()))
        gateway = self.start(PLAYED % {"path": "log", "settings": TIMED + "\nsource = sim"}, self.folder)
        reader = self.reader(gateway)
        for total in (count, 2 * count):
            gateway.text("/devices/sim/start", "POST")
            self.eventually(lambda: gateway.status()["ledger"]["total"]["sampled"] >= total, "a pass",
                            lambda: (total, gateway.status()["ledger"]["total"], gateway.device("sim")))
            gateway.text("/devices/sim/stop", "POST")
            gateway.text("/devices/sim/reset", "POST")
        self.complete(gateway, [reader])
        for topic, part in content(reader.read()).items():
            first, second = part[:len(sim[topic])], part[len(sim[topic]):]
            self.assertEqual(sim[topic], first)
            self.assertEqual([each[1:] for each in first], [each[1:] for each in second])
            self.assertEqual(list(range(1, len(part) + 1)), [each[0] for each in part])

    def test_a_log_that_does_not_exist_yet(self):
        self.log()
        path, later = os.path.join(self.folder, "log"), os.path.join(self.folder, "later")
        settings = STEPPED + "\nsource = sim\nbreaker_wait_ms = 50\nbreaker_wait_max_ms = 100"
        gateway = self.start(PLAYED % {"path": "later", "settings": settings}, self.folder)
        gateway.text("/devices/sim/start", "POST")
        device = self.state_becomes(gateway, "sim", "error")
        self.assertEqual(later + ": No such file or directory", device["last_error"])
        os.rename(path, later)
        self.eventually(lambda: gateway.value("sim/counter"), "its first values", lambda: gateway.device("sim"))
        self.state_becomes(gateway, "sim", "measuring")


if __name__ == "__main__":
    main()
