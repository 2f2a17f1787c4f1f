"""Our sockets with hand-written peers that use ZMTP 3.0 or 3.1, checked byte by byte."""

import socket
import unittest

from peer_process import DEADLINE_S, Peer, make_payload
from raw_zmtp import COMMAND, RawPeer, command, connect, frame


class RawZmtp(unittest.TestCase):
    def peer(self, role, *arguments):
        peer = Peer(role, *arguments)
        self.addCleanup(peer.close)
        return peer

    def connect(self, endpoint, socket_type, minor):
        raw = connect(endpoint, socket_type, minor)
        self.addCleanup(raw.close)
        return raw

    def accepted(self, role, *arguments, socket_type, minor):
        """Connects our socket to a hand-written peer."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(DEADLINE_S)
            peer = self.peer(role, "--connect", f"tcp://127.0.0.1:{server.getsockname()[1]}", *arguments)
            raw = RawPeer(server.accept()[0], socket_type, minor)
        self.addCleanup(raw.close)
        return peer, raw

    def test_our_greeting_is_3_1(self):
        for minor in (0, 1):
            raw = self.connect(self.peer("pub", "--bind", "tcp://127.0.0.1:*").endpoint, b"SUB", minor)
            self.assertEqual(raw.peer_greeting[10:32], b"\x03\x01" + b"NULL".ljust(20, b"\0"))

    def test_a_3_0_subscriber_subscribes_with_messages_and_a_3_1_one_with_either(self):
        peer = self.peer("pub", "--bind", "tcp://127.0.0.1:*", "--size", 300)
        subscribers = [self.connect(peer.endpoint, b"SUB", minor) for minor in (0, 1, 1)]
        subscribers[0].send(frame(b"\1test"))
        subscribers[1].send(command(b"SUBSCRIBE", b"test"))
        subscribers[2].send(frame(b"\1test"))
        peer.wait_for_subscriptions(3)
        self.assertEqual(sorted(p["zmtp_minor"] for p in peer.status()["peers"]), [0, 1, 1])
        peer.tell("send 100")
        for subscriber in subscribers:
            for seq in range(1, 101):
                self.assertEqual(subscriber.receive_message(), [b"test/peer", make_payload(seq, 300)])
        subscribers[0].send(frame(b"\0test"))
        subscribers[1].send(frame(b"\0test"))
        subscribers[2].send(command(b"CANCEL", b"test"))
        peer.wait_for_subscriptions(0)

    def test_our_subscriber_uses_the_form_of_each_publisher(self):
        long_prefix = "p" * 300
        for minor, subscribe, cancel in ((0, lambda t: (0, b"\1" + t), lambda t: (0, b"\0" + t)),
                                         (1, lambda t: (COMMAND, b"\x09SUBSCRIBE" + t),
                                          lambda t: (COMMAND, b"\x06CANCEL" + t))):
            peer, raw = self.accepted("sub", "--subscribe", "a", socket_type=b"PUB", minor=minor)
            self.assertEqual(raw.receive_frame(), subscribe(b"a"))
            peer.tell(f"subscribe {long_prefix}")
            self.assertEqual(raw.receive_frame(), subscribe(long_prefix.encode()))
            peer.tell("unsubscribe a")
            self.assertEqual(raw.receive_frame(), cancel(b"a"))
            raw.send(b"".join(frame(b"p" * 300, flags=1) + frame(make_payload(seq, 500)) for seq in range(1, 51)))
            received = peer.wait_for_received(50)["received"]
            self.assertEqual((received["damaged"], received["missing"]), (0, 0))

    def test_a_topic_of_255_bytes_is_sent_to_a_3_0_publisher_in_a_long_frame(self):
        topic = "t" * 255
        _, raw = self.accepted("sub", "--subscribe", topic, socket_type=b"XPUB", minor=0)
        self.assertEqual(raw.receive_exactly(9), b"\x02" + (256).to_bytes(8, "big"))
        self.assertEqual(raw.receive_exactly(256), b"\1" + topic.encode())

    def test_ping_is_answered_for_every_version(self):
        for minor in (0, 1):
            peer = self.peer("router", "--echo", "--bind", "tcp://127.0.0.1:*")
            raw = self.connect(peer.endpoint, b"DEALER", minor)
            raw.send(command(b"PING", b"\0\0" + b"context"))
            self.assertEqual(raw.receive_frame(), (COMMAND, b"\x04PONG" + b"context"))
            raw.send(frame(b"", 1) + command(b"PING", b"\0\0") + frame(b"body"))
            self.assertEqual(raw.receive_frame(), (COMMAND, b"\x04PONG"))
            self.assertEqual(raw.receive_message(), [b"", b"body"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
