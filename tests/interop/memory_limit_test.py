"""A gateway without memory ends at once with a message, and the next start names what was lost. Run by ctest."""

import resource

import raw_zmtp
from device_peers import DeviceTest, main
from gateway_process import DEADLINE_S

SETTINGS = """[gateway]
state_file = {folder}/state
[log]
path = {folder}/log
[device "simulated"]
driver = simulated
interval_ms = 1
"""
LITTLE_BYTES = 256 * 1024


class MemoryLimitTest(DeviceTest):
    def limit(self, gateway):
        with open(f"/proc/{gateway.process.pid}/statm") as file:
            pages = int(file.read().split()[0])
        size = pages * resource.getpagesize() + LITTLE_BYTES
        resource.prlimit(gateway.process.pid, resource.RLIMIT_AS, (size, size))

    def test_a_gateway_without_memory_ends_with_a_message_and_the_next_start_names_its_losses(self):
        gateway = self.start(SETTINGS)
        epoch = gateway.status()["epoch"]
        self.eventually(lambda: gateway.status()["log"]["samples"] > 1_000, "samples in the log")
        peer = raw_zmtp.connect(gateway.endpoints[0], b"SUB", 1)
        self.addCleanup(peer.close)
        self.limit(gateway)
        try:
            for number in range(100_000):
                peer.send(raw_zmtp.command(b"SUBSCRIBE", b"%0200d" % number))
        except OSError:
            pass  # the gateway has ended
        self.assertEqual(71, gateway.process.wait(DEADLINE_S))
        self.assertIn("telegate: out of memory", gateway.log())
        gateway.start()
        self.assertIn(f"previous run did not stop cleanly epoch={epoch} ", gateway.log())
        self.assertIn("previous run did not close the log", gateway.log())
        self.assertTrue(gateway.status()["ledger"]["balanced"])


if __name__ == "__main__":
    main()
