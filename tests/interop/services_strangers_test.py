"""Services with peers that do not read, take over an identity, or have no key. Run by ctest as services_test."""

import contextlib
import json
import os
import resource
import select
import signal
import socket
import unittest

import raw_zmtp
from services_peer import CHECK_MEMORY, Asker, zmq
from gateway_process import DEADLINE_S, Gateway, eventually

SETTINGS = """sampling_interval_ms = 100
[rest]
listen =
[services "ipc"]
endpoint = ipc://{folder}/services.ipc
MORE
[device "simulated"]
driver = simulated
waveforms = sine
"""
CURVE = """[services "curve"]
endpoint = ipc://{folder}/curve.ipc
curve_secret_key_file = {folder}/server.secret
curve_clients_dir = {folder}/clients
"""


def keys_of(server, client):
    return {"curve_serverkey": server, "curve_publickey": client[0], "curve_secretkey": client[1]}


def ready(identity):
    name = b"\x08Identity" + len(identity).to_bytes(4, "big") + identity
    return raw_zmtp.command(b"READY", b"\x0bSocket-Type\0\0\0\x06DEALER" + name)


class RawDealer(raw_zmtp.RawPeer):
    """A DEALER that reads only on request, with minimal kernel buffers."""

    def __init__(self, path, identity=b""):
        connection = socket.socket(socket.AF_UNIX)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        connection.connect(path)
        self.connection = connection
        connection.settimeout(DEADLINE_S)
        self.send(raw_zmtp.greeting(1) + ready(identity))
        self.receive_exactly(64)
        self.receive_frame()

    def send_until_stuck(self, wire):
        """Sends `wire` repeatedly. Returns how many bytes were accepted until the other side stopped accepting."""
        self.connection.settimeout(2)  # longer than the other side may have to wait for a processor
        sent = 0
        try:
            while True:
                sent += self.connection.send(wire[sent % len(wire):])
        except TimeoutError:
            return sent
        finally:
            self.connection.settimeout(DEADLINE_S)


class StrangersTest(unittest.TestCase):
    def begin(self, more=""):
        self.gateway = Gateway(SETTINGS.replace("MORE", more))
        self.addCleanup(self.gateway.close)
        self.path = self.gateway.path("services.ipc")

    def asker(self, **options):
        asker = Asker("ipc://" + self.path, **options)
        self.addCleanup(asker.close)
        return asker

    def dealer(self, identity=b""):
        dealer = RawDealer(self.path, identity)
        self.addCleanup(dealer.close)
        return dealer

    def status(self, asker):
        return asker.ask("status")["status"]["services"]

    def memory_bytes(self):
        with open(f"/proc/{self.gateway.process.pid}/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    def test_peers_that_send_the_shortest_requests_and_never_read_cost_little(self):
        self.begin()
        asker = self.asker()
        self.status(asker)
        peers_count = 100 if CHECK_MEMORY else 20  # with a sanitizer, each reply takes longer
        before, peers = self.memory_bytes(), [self.dealer() for _ in range(peers_count)]
        poller = select.poll()
        by_descriptor = {peer.connection.fileno(): peer.connection for peer in peers}
        for descriptor in by_descriptor:
            poller.register(descriptor, select.POLLOUT)

        def are_all_full():
            for descriptor, _ in poller.poll(20):
                by_descriptor[descriptor].send(bytes(4096), socket.MSG_DONTWAIT)
            return self.status(asker)["backlog_bytes"] > len(peers) * 15 * 1024
        self.assertTrue(eventually(are_all_full))
        status = self.status(asker)
        self.assertGreater(status["errors"]["bad_request"], 100 * peers_count)
        self.assertLess(status["backlog_bytes"], len(peers) * 17 * 1024)
        # 8 KiB of requests, 16 KiB of replies and the sockets. With requests stored as objects it was about 500 KiB.
        if CHECK_MEMORY:
            self.assertLess((self.memory_bytes() - before) / len(peers), 200 * 1024)

    def test_a_peer_that_takes_over_an_identity_gets_no_replies_to_its_predecessor(self):
        self.begin()
        first = self.dealer(b"name")
        first.send_until_stuck(raw_zmtp.frame(b'{"service":"ping","id":"old"}'))
        second = self.dealer(b"name")
        for number in range(50):
            second.send(raw_zmtp.frame(json.dumps({"service": "ping", "id": number}).encode()))
            self.assertEqual(json.loads(second.receive_message()[-1])["id"], number)
        asker = self.asker()
        self.assertGreater(self.status(asker)["replies_lost"], 0)
        self.assertTrue(eventually(lambda: self.status(asker)["peers"] <= 2))

    def begin_with_keys(self):
        """Returns the server's public key and the key pairs of two accepted clients."""
        self.begin()
        server, known, other = zmq.curve_keypair(), zmq.curve_keypair(), zmq.curve_keypair()
        os.mkdir(self.gateway.path("clients"))
        for name, key in (("clients/known.public", known[0]), ("clients/other.public", other[0]), ("server.secret", server[1])):
            with open(os.open(self.gateway.path(name), os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                file.write(key)
        self.gateway.write(SETTINGS.replace("MORE", CURVE))
        self.gateway.process.send_signal(signal.SIGHUP)
        self.assertTrue(eventually(lambda: os.path.exists(self.gateway.path("curve.ipc"))))
        return server[0], known, other

    def secret_asker(self, server, keys, **options):
        asker = Asker("ipc://" + self.gateway.path("curve.ipc"), **keys_of(server, keys), **options)
        self.addCleanup(asker.close)
        return asker

    def test_clients_with_accepted_keys_get_encrypted_replies(self):
        server, known, _ = self.begin_with_keys()
        asker = self.secret_asker(server, known)
        self.assertEqual(asker.ask("ping", id=1)["id"], 1)
        self.assertTrue(eventually(lambda: asker.ask("catalog")["channels"]))
        self.assertEqual(asker.ask("catalog")["channels"][0]["topic"], "simulated/sine")
        self.assertTrue(eventually(lambda: len(self.status(asker)["endpoints"]) == 2))

    def test_a_client_with_another_key_cannot_take_over_an_identity(self):
        server, known, other = self.begin_with_keys()
        owner = self.secret_asker(server, known, routing_id=b"name")
        owner.ask("ping")
        thief = self.secret_asker(server, other, routing_id=b"name")
        thief.send({"service": "ping"})
        self.assertTrue(eventually(lambda: self.status(owner)["connections_accepted"] >= 4))  # it retries repeatedly
        for number in range(20):
            self.assertEqual(owner.ask("ping", id=number)["id"], number)
        self.assertFalse(thief.socket.poll(0))

    def test_clients_without_keys_or_with_unknown_keys_get_no_reply(self):
        server, known, _ = self.begin_with_keys()
        asker = self.asker()
        no_keys = {}
        strange_client = keys_of(server, zmq.curve_keypair())
        strange_server = keys_of(zmq.curve_keypair()[0], known)
        for options in (no_keys, strange_client, strange_server):
            failed = self.status(asker)["handshakes_failed"]
            # A client with keys retries repeatedly; it is closed before the next one is counted.
            with contextlib.closing(Asker("ipc://" + self.gateway.path("curve.ipc"), **options)) as stranger:
                with contextlib.suppress(zmq.Again):  # libzmq has already stopped: without keys it does not retry
                    stranger.socket.send(b'{"service":"ping"}', zmq.NOBLOCK)
                self.assertTrue(eventually(lambda: self.status(asker)["handshakes_failed"] > failed))
                self.assertFalse(stranger.socket.poll(0))


if __name__ == "__main__":
    unittest.main(verbosity=2)
