"""A snapshot reports channels whose last samples are lost, because no later sample reveals the loss.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP.
"""

import unittest

from services_peer import Asker
from gateway_process import Gateway, eventually

BURST_SAMPLES = 10
SETTINGS = f"""queue_size = 3
[queue]
policy = drop_newest
[rest]
listen = 127.0.0.1:0
[publish "ipc"]
endpoint = ipc://{{folder}}/pub.ipc
[services "tcp"]
endpoint = tcp://127.0.0.1:0
[device "once"]
driver = simulated
waveforms = sine, counter
interval_ms = 3600000
burst_probability = 1
burst_samples = {BURST_SAMPLES}
"""


class SnapshotOfLossesTest(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway(SETTINGS)
        self.addCleanup(self.gateway.close)
        self.asker = Asker(self.gateway.services[0])
        self.addCleanup(self.asker.close)
        self.assertTrue(eventually(lambda: self.ends() == {"once/sine": BURST_SAMPLES, "once/counter": BURST_SAMPLES}))

    def ends(self):
        """Returns the last seq of each channel, by published samples and reported gaps."""
        snapshot = self.asker.ask("snapshot")
        ends = {f"{each['device']}/{each['channel']}": each["seq"] for each in snapshot["samples"]}
        return ends | {each["topic"]: each["last_seq"] for each in snapshot["gone"]}

    def test_losses_after_the_last_sample_are_reported(self):
        snapshot = self.asker.ask("snapshot")
        last = {f"{each['device']}/{each['channel']}": each["seq"] for each in snapshot["samples"]}
        self.assertTrue(snapshot["gone"])
        for gone in snapshot["gone"]:
            self.assertEqual((gone["first_seq"], gone["last_seq"], gone["reason"]),
                             (last.get(gone["topic"], 0) + 1, BURST_SAMPLES, "dropped"))

    def test_pages_contain_the_same_as_a_single_reply(self):
        whole = self.asker.ask("snapshot")
        self.assertNotIn("after", whole)
        first = self.asker.ask("snapshot", limit=1)
        self.assertEqual((first["after"], first["end"]), ("once/counter", False))
        second = self.asker.ask("snapshot", limit=1, after=first["after"])
        self.assertTrue(second["end"])
        for key in ("samples", "gone"):
            self.assertEqual(first[key] + second[key], whole[key])


if __name__ == "__main__":
    unittest.main(verbosity=2)
