"""The serial driver with ptys as adapters: NMEA and key=value lines; unplugged, replaced and silent devices.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP.
"""

import os
import pty
import tty

from device_peers import DeviceTest, main

SOURCE = os.environ["TELEGATE_SOURCE_DIR"]

SERIAL = """[device "s"]
driver = serial
port = {folder}/port
interval_ms = 50
breaker_wait_ms = 50
breaker_wait_max_ms = 200
"""
OTHER = """[device "other"]
driver = simulated
waveforms = counter
interval_ms = 100
"""


class Adapter:
    """A pty with a stable name: a symbolic link, as in /dev/serial/by-id."""

    def __init__(self, link):
        self.link = link
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        os.symlink(os.ttyname(self.slave), link + ".new")
        os.replace(link + ".new", link)

    def say(self, text):
        os.write(self.master, text if isinstance(text, bytes) else text.encode())

    def unplug(self):
        """Removes the name and hangs up the line."""
        if os.path.lexists(self.link):
            os.unlink(self.link)
        self.close()

    def close(self):
        for descriptor in (self.master, self.slave):
            if descriptor is not None:
                os.close(descriptor)
        self.master = self.slave = None


class Serial(DeviceTest):
    def adapter(self, folder):
        adapter = Adapter(os.path.join(folder, "port"))
        self.addCleanup(lambda: adapter.master is not None and adapter.close())
        return adapter

    def hears(self, gateway, adapter, line, topic, value):
        """Sends a line repeatedly, as a device does, because the gateway may not have opened the port yet."""
        def heard():
            adapter.say(line)
            return gateway.value(topic) == value
        self.eventually(heard, f"{topic} = {value!r}", lambda: (gateway.latest(topic), gateway.device("s")))

    def test_nmea_sentences(self):
        folder = self.scratch()
        adapter = self.adapter(folder)
        gateway = self.start(SERIAL.replace("{folder}", folder) + "format = nmea\n")
        reader = self.reader(gateway, "s/")
        self.hears(gateway, adapter, "$HEHDT,0.0,T*2F\r\n", "s/hdt.heading", 0)
        with open(os.path.join(SOURCE, "tests/device/serial/voyage.nmea"), "rb") as file:
            voyage = file.read()
        for at in range(0, len(voyage), 100):
            adapter.say(voyage[at:at + 100])
            if at % 500 == 0:  # a terminal buffers 4 KiB
                reads = gateway.device("s")["reads"]
                self.eventually(lambda: gateway.device("s")["reads"] > reads, "a reading")
        self.eventually(lambda: len(reader.of("s/gga.latitude")) >= 9, "all of it, one without a value", lambda: gateway.latest("s/gga.latitude"))
        self.eventually(lambda: gateway.value("s/lines.refused") == 3, "the invalid lines",
                        lambda: gateway.latest("s/lines.refused"))
        self.assertEqual([round(5418.2 + 0.05 * n, 4) for n in range(8)],
                         [round(5400 + (value - 54) * 60, 4) for value in reader.values("s/gga.latitude") if value is not None])
        headings = self.eventually(lambda: len(found := [value for value in reader.values("s/hdt.heading") if value]) >= 8 and
                                   found, "headings")
        self.assertEqual(41.5, headings[0])
        self.assertEqual(8, len(headings))
        speed = reader.of("s/rmc.speed")[0]
        self.assertAlmostEqual(6.0 * 1852 / 3600, speed["value"], 6)
        self.assertEqual(("m/s", "good"), (speed["unit"], speed["quality"]))
        self.assertEqual("08:00:00.00", reader.values("s/gga.time")[0])
        self.assertEqual(["2026-06-15"], reader.values("s/zda.date")[:1])
        self.assertEqual([10], reader.values("s/gsv.gp.in_view")[:1])
        line = {each["time"] for topic in ("gga.time", "gga.latitude", "gga.longitude")
                for each in reader.of("s/" + topic)[:1]}
        self.assertEqual(1, len(line), "samples of one line have the same time")

    def test_key_value_lines(self):
        folder = self.scratch()
        adapter = self.adapter(folder)
        gateway = self.start(SERIAL.replace("{folder}", folder) +
                             '[channel "s/temp"]\nscale = 2\nunit = Cel\nvalid_max = 100\n')
        line = 'temp=21.5 hum=40, state=on; text="two words" big=9007199254740993 none=\n'
        self.hears(gateway, adapter, line, "s/temp", 43)
        self.assertEqual("Cel", gateway.latest("s/temp")["unit"])
        for topic, value in (("s/hum", 40), ("s/state", True), ("s/text", "two words"), ("s/big", 2 ** 53 + 1)):
            self.value_becomes(gateway, topic, value)
        none = gateway.latest("s/none")
        self.assertEqual((None, "bad"), (none["value"], none["quality"]))
        adapter.say("temp=70\n")
        self.eventually(lambda: gateway.latest("s/temp")["quality"] == "uncertain", "a value out of range")
        self.assertEqual(140, gateway.latest("s/temp")["value"])
        adapter.say("temp\n\xff\n" + "x" * 2000 + "\n")
        self.eventually(lambda: (gateway.value("s/lines.refused") or 0) >= 2, "refused lines",
                        lambda: gateway.latest("s/lines.refused"))
        self.hears(gateway, adapter, "temp=1\n", "s/temp", 2)

    def test_unplugged_and_plugged_in_again(self):
        folder = self.scratch()
        adapter = self.adapter(folder)
        gateway = self.start(SERIAL.replace("{folder}", folder) + OTHER)
        self.hears(gateway, adapter, "temp=1\n", "s/temp", 1)
        before = gateway.device("other")
        adapter.unplug()
        device = self.state_becomes(gateway, "s", "error")
        self.assertIn(f"{folder}/port: ", device["last_error"])
        self.eventually(lambda: gateway.latest("s/temp")["quality"] == "bad", "no old value as a new one")
        self.eventually(lambda: "No such file or directory" in (gateway.device("s")["last_error"] or ""), "the name is removed",
                        lambda: gateway.device("s"))
        self.on_time(gateway, "other", before)
        again = self.adapter(folder)
        self.hears(gateway, again, "temp=2\n", "s/temp", 2)
        self.state_becomes(gateway, "s", "measuring", breaker="closed")
        self.assertTrue(gateway.status()["ledger"]["balanced"])

    def test_a_name_that_points_to_another_adapter(self):
        folder = self.scratch()
        first = self.adapter(folder)
        gateway = self.start(SERIAL.replace("{folder}", folder))
        self.hears(gateway, first, "temp=1\n", "s/temp", 1)
        second = self.adapter(folder)  # the name is never missing
        first.close()
        self.hears(gateway, second, "temp=2\n", "s/temp", 2)
        self.state_becomes(gateway, "s", "measuring")

    def test_a_silent_line_while_another_device_stays_on_time(self):
        folder = self.scratch()
        adapter = self.adapter(folder)
        gateway = self.start(SERIAL.replace("{folder}", folder) + "silence_ms = 500\n" + OTHER)
        self.hears(gateway, adapter, "temp=1\n", "s/temp", 1)
        before = gateway.device("other")
        device = self.state_becomes(gateway, "s", "error", breaker="open")
        self.assertIn("no valid line for 500 ms", device["last_error"])
        self.eventually(lambda: gateway.latest("s/temp")["quality"] == "bad", "no old value as a new one")
        self.on_time(gateway, "other", before)
        self.hears(gateway, adapter, "temp=3\n", "s/temp", 3)
        self.state_becomes(gateway, "s", "measuring", breaker="closed")


if __name__ == "__main__":
    main()
