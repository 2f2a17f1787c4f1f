"""Our DEALER and ROUTER with libzmq's DEALER, ROUTER, REQ and REP. Run by ctest, see peer_process.py."""

import os
import unittest

import zmq_fixture
import zmq
from peer_process import make_payload
from zmq_fixture import LINKS, TCP_LINKS, last_endpoint

MESSAGES = 1_000
SIZE = 100
BULK_SIZE = 64 * 1024
BULK_BYTES = int(os.environ.get("TELEGATE_INTEROP_BYTES", 2 ** 30))  # sanitizer builds transfer less

# Sends and never receives the replies.
FLOOD = """
import sys, zmq
dealer = zmq.Context().socket(zmq.DEALER)
dealer.setsockopt(zmq.RCVHWM, 10)
dealer.connect(sys.argv[1])
while True:
    dealer.send(bytes(1000))
"""


class Routing(zmq_fixture.InteropTest):
    def payloads(self, count=MESSAGES, size=SIZE):
        return [make_payload(seq, size) for seq in range(1, count + 1)]

    def test_our_dealer_sends_requests_to_their_router(self):
        def case(link):
            peer, router = self.connected(link, ("dealer", "--identity", "ours", "--size", SIZE), (zmq.ROUTER, {}))
            peer.tell(f"send {MESSAGES}")
            for payload in self.payloads():
                identity, got = router.recv_multipart()
                self.assertEqual((identity, got), (b"ours", payload))
                router.send_multipart([identity, got])
            self.assert_whole(peer.wait_for_received(MESSAGES), MESSAGES)
            self.assert_balanced(peer.quit())

        self.over(LINKS, case)

    def test_our_dealer_sends_requests_to_their_rep(self):
        def case(link):
            peer, rep = self.connected(link, ("dealer", "--delimiter", "--size", SIZE), (zmq.REP, {}))
            peer.tell(f"send {MESSAGES}")
            for payload in self.payloads():
                self.assertEqual(rep.recv(), payload)
                rep.send(payload)
            report = peer.wait_for_received(MESSAGES)
            self.assert_whole(report, MESSAGES)
            self.assertEqual(report["received"]["frames"], 2 * MESSAGES)

        self.over(LINKS, case)

    def test_our_dealer_and_their_dealer_send_concurrently(self):
        def case(link):
            peer, dealer = self.connected(link, ("dealer", "--size", SIZE), (zmq.DEALER, {}))
            peer.tell(f"send {MESSAGES}")
            for payload in self.payloads():
                dealer.send(payload)
            for payload in self.payloads():
                self.assertEqual(dealer.recv(), payload)
            self.assert_whole(peer.wait_for_received(MESSAGES), MESSAGES)

        self.over(LINKS, case)

    def test_their_dealer_sends_requests_to_our_router(self):
        def case(link):
            peer, dealer = self.connected(link, ("router", "--echo"), (zmq.DEALER, {zmq.IDENTITY: b"theirs"}))
            self.assertEqual(bytes.fromhex(peer.status()["peers"][0]["identity_hex"]), b"theirs")
            for payload in self.payloads():
                dealer.send_multipart([b"", payload])
            for payload in self.payloads():
                self.assertEqual(dealer.recv_multipart(), [b"", payload])
            self.assert_whole(peer.wait_for_received(MESSAGES), MESSAGES)

        self.over(LINKS, case)

    def test_their_req_sends_requests_to_our_router(self):
        def case(link):
            for correlate in (0, 1):
                options = {zmq.REQ_CORRELATE: correlate, zmq.REQ_RELAXED: correlate}
                peer, req = self.connected(link, ("router", "--echo"), (zmq.REQ, options))
                for payload in self.payloads(200):
                    req.send(payload)
                    self.assertEqual(req.recv(), payload)
                report = peer.quit()
                self.assert_whole(report, 200)
                self.assertEqual(report["received"]["frames"], 200 * (2 + correlate))

        self.over(LINKS, case)

    def test_routers_exchange_messages_by_identity(self):
        def case(link):
            ours = ("router", "--identity", "ours", "--alias", "theirs", "--size", SIZE)
            peer, router = self.connected(link, ours, (zmq.ROUTER, {zmq.IDENTITY: b"theirs"}))
            peer.tell(f"send {MESSAGES}")
            for payload in self.payloads():
                self.assertEqual(router.recv_multipart(), [b"ours", payload])
                router.send_multipart([b"ours", payload])
            self.assert_whole(peer.wait_for_received(MESSAGES), MESSAGES)

        self.over(LINKS, case)

    def test_their_probe_is_an_empty_message(self):
        peer, dealer = self.connected(TCP_LINKS[0], ("router", "--echo"), (zmq.DEALER, {zmq.PROBE_ROUTER: 1}))
        self.assertEqual(dealer.recv_multipart(), [b""])
        received = peer.quit()["received"]
        self.assertEqual((received["messages"], received["frames"], received["bytes"]), (1, 1, 0))

    def test_a_hundred_frames_stay_one_message(self):
        def case(link):
            peer, dealer = self.connected(link, ("router", "--echo"), (zmq.DEALER, {}))
            frames = [bytes([number]) * number for number in range(99)] + [make_payload(1, SIZE)]
            dealer.send_multipart(frames)
            self.assertEqual(dealer.recv_multipart(), frames)
            self.assert_whole(peer.quit(), 1)

        self.over(LINKS, case)

    def test_frames_of_boundary_sizes_are_echoed(self):
        def case(link):
            _, dealer = self.connected(link, ("router", "--echo"), (zmq.DEALER, {}))
            for size in (0, 1, 254, 255, 256, 257, 8191, 8192, 65535, 65536, 2 ** 20, 2 ** 23 + 1):
                frames = [b"a", os.urandom(size), b"", os.urandom(size)]
                dealer.send_multipart(frames)
                self.assertEqual(dealer.recv_multipart(), frames, size)

        self.over(LINKS, case)

    def test_a_new_connection_takes_over_the_identity_of_their_dealer(self):
        peer, first = self.connected(TCP_LINKS[0], ("router", "--echo"), (zmq.DEALER, {zmq.IDENTITY: b"same"}))
        first.send(b"first")
        self.assertEqual(first.recv(), b"first")
        first.setsockopt(zmq.RECONNECT_IVL, -1)
        second = self.socket(zmq.DEALER, {zmq.IDENTITY: b"same"})
        second.connect(peer.endpoint)
        second.send(b"second")
        self.assertEqual(second.recv(), b"second")
        first.close()
        peer.wait_for_peers(1)

    def test_a_router_blocked_by_a_peer_continues_when_the_peer_is_killed(self):
        """Its replies fill the buffers, so it receives no more, and the last messages of the peer are never received."""
        peer = self.peer("router", "--echo", "--bind", "tcp://127.0.0.1:*", "--backlog-bytes", 100_000)
        flood = self.stock_process(FLOOD, peer.endpoint)
        peer.wait_for(lambda s: "slow" in s["events"], "a blocked peer")
        flood.kill()
        peer.wait_for_peers(0)
        dealer = self.socket(zmq.DEALER)
        dealer.connect(peer.endpoint)
        dealer.send(b"next")
        self.assertEqual(dealer.recv(), b"next")
        self.assert_balanced(peer.quit())

    def test_our_dealer_sends_to_several_of_theirs_in_turn(self):
        routers = [self.socket(zmq.ROUTER) for _ in range(3)]
        for router in routers:
            router.bind("tcp://127.0.0.1:*")
        connects = [word for router in routers for word in ("--connect", last_endpoint(router))]
        peer = self.peer("dealer", "--size", SIZE, *connects)
        peer.wait_for_peers(3)
        peer.tell("send 300")
        got = [router.recv_multipart()[1] for router in routers for _ in range(100)]
        self.assertEqual(sorted(got), self.payloads(300))


class Bulk(zmq_fixture.InteropTest):
    """A gigabyte in messages of 64 KiB without losses: the slower side blocks the other."""

    count = BULK_BYTES // BULK_SIZE

    def test_from_our_dealer_to_their_router(self):
        peer, router = self.connected(TCP_LINKS[0], ("dealer", "--size", BULK_SIZE), (zmq.ROUTER, {}))
        peer.tell(f"send {self.count}")
        for seq in range(1, self.count + 1):
            payload = router.recv_multipart(copy=False)[1].buffer
            self.assertEqual(len(payload), BULK_SIZE)
            self.assertEqual(int.from_bytes(payload[:8], "big"), seq)
            self.assertEqual(payload[-1], seq % 251)
        report = peer.quit()
        self.assertEqual((report["totals"]["sent"], report["totals"]["dropped"]), (self.count, 0))
        self.assert_balanced(report)

    def test_from_their_dealer_to_our_router(self):
        peer, dealer = self.connected(TCP_LINKS[0], ("router",), (zmq.DEALER, {}))
        for seq in range(1, self.count + 1):
            dealer.send(make_payload(seq, BULK_SIZE))
        report = peer.wait_for_received(self.count)
        self.assert_whole(report, self.count)
        self.assertEqual(report["received"]["bytes"], self.count * BULK_SIZE)

    def test_from_our_router_to_their_dealer_and_back_over_ipc_with_curve(self):
        count = self.count // 8
        peer, dealer = self.connected(next(link for link in LINKS if link.transport == "ipc" and link.curve),
                                      ("router", "--echo"), (zmq.DEALER, {zmq.SNDHWM: 0}))
        for seq in range(1, count + 1):  # no limit on their side, to avoid a deadlock
            dealer.send(make_payload(seq, BULK_SIZE))
        for seq in range(1, count + 1):
            self.assertEqual(dealer.recv(), make_payload(seq, BULK_SIZE))
        self.assert_whole(peer.quit(), count)


if __name__ == "__main__":
    zmq_fixture.describe()
    unittest.main(verbosity=2)
