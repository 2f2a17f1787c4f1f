"""`align = wall`: a subscriber sees samples at whole multiples of the interval by the wall clock.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP.
"""

from device_peers import DeviceTest, main, time_ns

INTERVAL_NS = 200_000_000
EARLY_MS = 5  # the wall clock may be adjusted in between
LATE_MS = 20
PROGRAM_LATE_MS = 60  # a program has to start first
SAMPLES = 10
NEAR_LEAST = 8  # a busy machine may be late more often
ATTEMPTS = 30  # a minute; a reading that ignores the wall clock would be near by chance in one of eight cases

SETTINGS = """[device "d"]
driver = {driver}
interval_ms = 200
align = wall
offset_ms = {offset_ms}
"""


class Align(DeviceTest):
    def distances_ms(self, samples, offset_ms):
        """Returns how long after the nearest multiple each sample was taken; negative if before it."""
        half = INTERVAL_NS // 2
        return [((time_ns(each["time"]) - offset_ms * 10 ** 6 + half) % INTERVAL_NS - half) / 1e6 for each in samples]

    def check(self, driver, topic, offset_ms=0, late_ms=LATE_MS):
        gateway = self.start(SETTINGS.format(driver=driver, offset_ms=offset_ms))
        reader = self.reader(gateway, topic)
        seen = []
        for attempt in range(1, ATTEMPTS + 1):
            self.eventually(lambda: len(reader.of(topic)) >= SAMPLES * attempt, "samples")
            part = self.distances_ms(reader.of(topic)[SAMPLES * (attempt - 1):SAMPLES * attempt], offset_ms)
            seen.append(part)
            if sum(-EARLY_MS <= each <= late_ms for each in part) >= NEAR_LEAST:
                break
        else:
            self.fail(f"ms after a multiple: {seen}")
        numbers = [each["seq"] for each in reader.of(topic)]
        self.assertEqual(list(range(numbers[0], numbers[0] + len(numbers))), numbers)

    def test_a_device_of_the_sampling_thread(self):
        self.check("simulated\nwaveforms = counter", "d/counter")

    def test_an_offset(self):
        self.check("simulated\nwaveforms = counter", "d/counter", 50)

    def test_a_device_with_its_own_thread(self):
        self.check("exec\ncommand = echo temp=1", "d/temp", late_ms=PROGRAM_LATE_MS)


if __name__ == "__main__":
    main()
