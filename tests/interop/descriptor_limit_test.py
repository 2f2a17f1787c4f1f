"""A gateway with few descriptors: connections to one of its endpoints leave descriptors for all others. Run by ctest."""

import re
import resource
import socket
import urllib.parse

import zmq
from device_peers import DeviceTest, main
from gateway_process import eventually

SETTINGS = """[services "s"]
endpoint = tcp://127.0.0.1:0
[device "simulated"]
driver = simulated
"""


class DescriptorLimitTest(DeviceTest):
    def start_with(self, descriptors):
        self.gateway = self.start(SETTINGS, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE,
                                                                                  (descriptors, descriptors)))
        self.services = re.search(r" services=(\S+)", self.gateway.log()).group(1)

    def crowd(self, endpoint):
        """Opens silent connections, more than are possible; the kernel keeps those that are not accepted."""
        address = urllib.parse.urlsplit(endpoint)
        for _ in range(120):
            peer = socket.socket()
            self.addCleanup(peer.close)
            peer.setblocking(False)
            peer.connect_ex((address.hostname, address.port))

    def ping(self):
        dealer = zmq.Context.instance().socket(zmq.DEALER)
        dealer.connect(self.services)
        dealer.send_multipart([b"", b'{"request":"ping"}'])
        try:
            self.eventually(lambda: dealer.poll(0), "a reply to ping", self.gateway.log)
        finally:
            dealer.close(0)

    def test_a_limit_that_leaves_none_for_clients_is_an_error_at_start(self):
        with self.assertRaisesRegex(AssertionError, "the limit of 24 open files is too low: "):
            self.start_with(24)

    def test_descriptors_are_reserved_for_each_endpoint(self):
        for descriptors in (40, 64, 100):
            with self.subTest(descriptors=descriptors):
                self.start_with(descriptors)
                for endpoint in (self.gateway.endpoints[0], self.gateway.rest, self.services):
                    self.crowd(endpoint)
                    self.assertTrue(eventually(lambda: self.gateway.text("/livez")))
                    self.assertEqual("running", self.gateway.status()["state"])
                    self.ping()
                self.gateway.stop()


if __name__ == "__main__":
    main()
