"""The modbus driver with units of pymodbus, over TCP and over a serial line, which is a pair of ptys created by socat.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP.
"""

import os
import shutil
import subprocess
import sys

from device_peers import DeviceTest, main
from gateway_process import OWN_ADDRESS

UNITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "modbus_units.py")

VALUES = """[device "m"]
driver = modbus
endpoint = {endpoint}
interval_ms = 100
timeout_ms = 2000
breaker_wait_ms = 100
breaker_wait_max_ms = 200
baud = 115200
[channel "m/word"]
address = 0
unit = rpm
[channel "m/flow"]
address = 1
type = int16
scale = 0.1
offset = 5
unit = Cel
[channel "m/abcd"]
address = 2
type = float32
[channel "m/cdab"]
address = 4
type = float32
word_order = little
[channel "m/int32"]
address = 6
type = int32
[channel "m/badc"]
address = 8
type = uint32
byte_swap = yes
[channel "m/low_first"]
address = 10
type = uint32
word_order = little
[channel "m/float64"]
address = 12
type = float64
[channel "m/uint64"]
address = 16
type = uint64
[channel "m/int64"]
address = 20
type = int64
word_order = little
[channel "m/bit0"]
address = 24
bit = 0
[channel "m/bit1"]
address = 24
bit = 1
[channel "m/bit10"]
address = 24
bit = 10
[channel "m/dcba"]
address = 25
type = float32
word_order = little
byte_swap = yes
[channel "m/nan"]
address = 27
type = float32
[channel "m/before"]
address = 31
[channel "m/nowhere"]
address = 32
[channel "m/behind"]
address = 33
[channel "m/generation"]
unit_id = 7
table = input
address = 40
[channel "m/coil3"]
unit_id = 7
table = coil
address = 3
[channel "m/coil4"]
unit_id = 7
table = coil
address = 4
[channel "m/discrete"]
unit_id = 7
table = discrete
address = 10
"""

# value, quality, unit
EXPECTED = {
    "word": (1234, "good", "rpm"), "flow": (-5.0, "good", "Cel"), "abcd": (12.5, "good", ""),
    "cdab": (-0.75, "good", ""), "int32": (-70000, "good", ""), "badc": (305419896, "good", ""),
    "low_first": (305419896, "good", ""), "float64": (1e100, "good", ""), "uint64": (float(2 ** 64), "uncertain", ""),
    "int64": (-2 ** 53 - 1, "good", ""), "bit0": (True, "good", ""), "bit1": (False, "good", ""),
    "bit10": (True, "good", ""), "dcba": (3.5, "good", ""), "nan": (None, "bad", ""), "before": (31, "good", ""),
    "nowhere": (None, "bad", ""), "behind": (33, "good", ""), "coil3": (True, "good", ""), "coil4": (False, "good", ""),
    "discrete": (True, "good", "")}


class Modbus(DeviceTest):
    def units(self, *arguments):
        """Starts the server and returns it with its port once it accepts requests."""
        process = self.run_process([sys.executable, "-B", UNITS, *map(str, arguments)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = process.stdout.readline()
        if line.startswith("skipped"):
            self.skipTest(line.strip())
        self.assertTrue(line.startswith("ready "), line)
        return process, int(line.split()[1])

    def end(self, process):
        process.kill()
        process.wait()

    def shows_all(self, gateway):
        """Checks that every value is as expected twice, with more than two readings in between."""
        def differences():
            result = []
            for channel, expected in EXPECTED.items():
                sample = gateway.latest("m/" + channel)
                seen = sample and (sample["value"], sample["quality"], sample["unit"])
                if seen != expected:
                    result.append(f"{channel}: {seen}, expected {expected}")
            return result
        self.eventually(lambda: not differences(), "all values", differences)
        reads = gateway.device("m")["reads"]
        self.eventually(lambda: gateway.device("m")["reads"] > reads + 2, "more readings")
        # On a busy machine, a unit may miss the time limit of one response.
        self.eventually(lambda: not differences(), "all values again", differences)
        for name in ("bit0", "bit1", "coil3", "coil4", "discrete"):  # Python treats 1 as equal to True, clients may not
            self.assertIsInstance(gateway.latest("m/" + name)["value"], bool, name)
        device = gateway.device("m")
        self.assertEqual(("measuring", "closed", 0), (device["state"], device["breaker"], device["reads_failed"]))
        self.value_becomes(gateway, "m/unit.7.ok", True)
        self.assertFalse(gateway.latest("m/unit.1.ok")["value"])

    def test_two_units_over_tcp_are_read_and_a_bad_register_affects_no_other(self):
        _, port = self.units("tcp", OWN_ADDRESS, 0, 1)
        gateway = self.start(VALUES.replace("{endpoint}", f"tcp://{OWN_ADDRESS}:{port}"))
        self.shows_all(gateway)
        self.assertEqual(1, gateway.value("m/generation"))

    def test_a_server_that_disappears_and_returns(self):
        first, port = self.units("tcp", OWN_ADDRESS, 0, 1)
        gateway = self.start(VALUES.replace("{endpoint}", f"tcp://{OWN_ADDRESS}:{port}"))
        reader = self.reader(gateway)
        self.value_becomes(gateway, "m/generation", 1)
        self.end(first)
        device = self.state_becomes(gateway, "m", "error")
        self.assertIn(f"tcp://{OWN_ADDRESS}:{port}: ", device["last_error"])
        self.eventually(lambda: gateway.latest("m/word")["quality"] == "bad", "no old value as a new one")
        self.assertIsNone(gateway.latest("m/word")["value"])
        self.state_becomes(gateway, "m", "error", breaker="open")
        self.units("tcp", OWN_ADDRESS, port, 2)
        self.value_becomes(gateway, "m/generation", 2)
        self.state_becomes(gateway, "m", "measuring", breaker="closed")
        self.shows_again(gateway, reader)

    def shows_again(self, gateway, reader):
        self.value_becomes(gateway, "m/word", 1234)
        last = gateway.latest("m/word")["seq"]
        self.eventually(lambda: reader.of("m/word") and reader.of("m/word")[-1]["seq"] >= last, "the reader received it too")
        samples = reader.of("m/word")
        first = samples[0]["seq"]
        self.assertEqual(list(range(first, first + len(samples))), [each["seq"] for each in samples])
        self.assertEqual({1234, None}, {each["value"] for each in samples})
        self.assertTrue(gateway.status()["ledger"]["balanced"])

    def test_a_missing_unit_affects_no_other(self):
        _, port = self.units("tcp", OWN_ADDRESS, 0, 1)
        gateway = self.start(VALUES.replace("{endpoint}", f"tcp://{OWN_ADDRESS}:{port}") +
                             '[channel "m/missing"]\nunit_id = 9\naddress = 0\n')
        self.shows_all(gateway)
        missing = gateway.latest("m/missing")
        self.assertEqual((None, "bad"), (missing["value"], missing["quality"]))
        self.assertIs(False, gateway.value("m/unit.9.ok"))

    def test_a_line_that_is_unplugged_and_plugged_in_again(self):
        ours, theirs, line = self.line()
        first, _ = self.units("rtu", theirs, 1)
        gateway = self.start(VALUES.replace("{endpoint}", f"rtu://{ours}"))
        self.value_becomes(gateway, "m/generation", 1)
        self.end(first)
        line.terminate()  # it removes the links
        line.wait()
        self.state_becomes(gateway, "m", "error", breaker="open")
        self.eventually(lambda: "No such file or directory" in gateway.device("m")["last_error"], "no serial line",
                        lambda: gateway.device("m"))
        self.line(os.path.dirname(ours))
        self.units("rtu", theirs, 2)
        self.value_becomes(gateway, "m/generation", 2)
        self.state_becomes(gateway, "m", "measuring", breaker="closed")

    def line(self, folder=None):
        """Returns the two ends of a line and the socat process that creates it."""
        if not shutil.which("socat"):
            self.skipTest("no socat (Debian package socat)")
        folder = folder or self.scratch()
        ours, theirs = os.path.join(folder, "ours"), os.path.join(folder, "theirs")
        line = self.run_process(["socat", f"pty,raw,echo=0,link={ours}", f"pty,raw,echo=0,link={theirs}"])
        self.eventually(lambda: os.path.exists(ours) and os.path.exists(theirs), "the two ends of the line")
        return ours, theirs, line

    def test_units_on_a_serial_line_have_the_same_values(self):
        ours, theirs, _ = self.line()
        first, _ = self.units("rtu", theirs, 1)
        gateway = self.start(VALUES.replace("{endpoint}", f"rtu://{ours}"))
        self.shows_all(gateway)
        self.end(first)
        device = self.state_becomes(gateway, "m", "error", breaker="open")
        self.assertIn("no response within 2000 ms", device["last_error"])
        self.units("rtu", theirs, 2)
        self.value_becomes(gateway, "m/generation", 2)
        self.value_becomes(gateway, "m/word", 1234)
        self.state_becomes(gateway, "m", "measuring", breaker="closed")


if __name__ == "__main__":
    main()
