"""Connection loss, reconnection and rejection of unauthorized peers between our sockets and libzmq's. Run by ctest."""

import os
import signal
import socket
import unittest

import zmq_fixture
import zmq
from peer_process import DEADLINE_S, eventually, make_payload
from raw_zmtp import tcp_address
from zmq.utils.monitor import parse_monitor_message
from zmq_fixture import LINKS, TCP_LINKS, last_endpoint, used

# The timeouts are longer than a peer may have to wait for a processor.
HEARTBEAT = {zmq.HEARTBEAT_IVL: 300, zmq.HEARTBEAT_TIMEOUT: 3_000, zmq.HEARTBEAT_TTL: 3_000}
OUR_HEARTBEAT = ("--heartbeat-ms", 100, "--heartbeat-timeout-ms", 3_000)

# A subscriber in a separate process, so that it can be stopped.
SUBSCRIBER = """
import sys, zmq
sub = zmq.Context().socket(zmq.SUB)
sub.setsockopt(zmq.RECONNECT_IVL, 20)
sub.subscribe(b"")
if len(sys.argv) > 2:
    sub.setsockopt(zmq.HEARTBEAT_IVL, 100)
    sub.setsockopt(zmq.HEARTBEAT_TTL, 1000)
    sub.setsockopt(zmq.HEARTBEAT_TIMEOUT, 60_000)  # never does this side leave first
sub.connect(sys.argv[1])
while True:
    sub.recv_multipart()
"""


class Monitor:
    """Counts the events of a pyzmq socket."""

    def __init__(self, test, observed):
        self.socket = observed.get_monitor_socket()
        test.addCleanup(self.socket.close)
        self.counts = {}

    def count(self, event):
        while self.socket.poll(0):
            kind = parse_monitor_message(self.socket.recv_multipart())["event"]
            self.counts[kind] = self.counts.get(kind, 0) + 1
        return self.counts.get(event, 0)


class Heartbeats(zmq_fixture.InteropTest):
    def test_idle_peers_with_heartbeats_on_both_sides_stay_connected(self):
        def case(link):
            peer, dealer = self.connected(link, ("router", *OUR_HEARTBEAT), (zmq.DEALER, HEARTBEAT))
            monitor = Monitor(self, dealer)
            status = peer.wait_for(lambda s: s["peers"][0]["round_trip_us"] is not None, "a PONG")
            start = status["totals"]["bytes_received"]
            peer.wait_for(lambda s: s["totals"]["bytes_received"] > start + 1_000, "six seconds of heartbeats")
            self.assertEqual(monitor.count(zmq.EVENT_DISCONNECTED), 0)
            self.assertNotIn("disconnected", peer.status()["events"])

        self.over(LINKS[:2] + LINKS[6:], case)

    def test_a_stopped_peer_of_theirs_times_out_and_reconnects(self):
        peer = self.peer("pub", "--bind", "tcp://127.0.0.1:*", *OUR_HEARTBEAT)
        subscriber = self.stock_process(SUBSCRIBER, peer.endpoint)
        peer.wait_for_subscriptions(1)
        subscriber.send_signal(signal.SIGSTOP)
        peer.wait_for(lambda s: s["totals"]["heartbeat_timeouts"] == 1 and s["peers_count"] == 0, "heartbeat timeout")
        subscriber.send_signal(signal.SIGCONT)
        peer.wait_for_subscriptions(1)
        subscriber.kill()
        peer.wait_for_peers(0)
        self.assert_balanced(peer.quit())

    def test_their_socket_detects_that_ours_is_stopped_and_reconnects(self):
        peer, sub = self.connected(TCP_LINKS[0], ("pub", "--size", 100), (zmq.SUB, {**HEARTBEAT, zmq.SUBSCRIBE: b""}))
        peer.wait_for_subscriptions(1, used(sub))
        monitor = Monitor(self, sub)
        os.kill(peer.pid, signal.SIGSTOP)
        eventually(lambda: monitor.count(zmq.EVENT_DISCONNECTED) == 1, "timeout on their side")
        os.kill(peer.pid, signal.SIGCONT)
        eventually(lambda: monitor.count(zmq.EVENT_HANDSHAKE_SUCCEEDED) == 1, "a new handshake")
        peer.wait_for_subscriptions(1, used(sub))
        peer.tell("send 1")
        self.assertEqual(sub.recv_multipart(), [b"test/peer", make_payload(1, 100)])

    def test_their_ttl_is_used(self):
        """A peer that requests a timeout of one second is disconnected by it, although our own timeout is much longer."""
        peer = self.peer("pub", "--bind", "tcp://127.0.0.1:*", "--heartbeat-ms", 0)
        subscriber = self.stock_process(SUBSCRIBER, peer.endpoint, "with TTL")
        status = peer.wait_for(lambda s: s["totals"]["bytes_received"] > 200, "PINGs")
        before = status["totals"]["heartbeat_timeouts"]  # a busy machine may have caused some
        peer.wait_for_peers(1)
        subscriber.send_signal(signal.SIGSTOP)
        peer.wait_for(lambda s: s["totals"]["heartbeat_timeouts"] > before, "heartbeat timeout", deadline_s=15)

    def test_a_slow_but_live_subscriber_is_not_disconnected(self):
        """When its RCVHWM is reached, libzmq does not read and PING is not answered, but its kernel still responds."""
        def case(link):
            options = {zmq.RCVHWM: 10, zmq.RCVBUF: 4096, zmq.SUBSCRIBE: b""}
            arguments = ("pub", "--size", 10_000, "--backlog-bytes", 1_000_000, "--lossy", *OUR_HEARTBEAT)
            peer, sub = self.connected(link, arguments, (zmq.SUB, options))
            peer.wait_for_subscriptions(1, used(sub))
            peer.tell("rate 1000")
            # More than twice the timeout.
            peer.wait_for(lambda s: s["totals"]["dropped"] > 8_000, "losses")
            peer.tell("rate 0")
            seqs = []

            def receive():
                while sub.poll(0):
                    seqs.append(int.from_bytes(sub.recv_multipart()[1][:8], "big"))
            status = peer.wait_for(lambda s: s["to_send"] == 0 and s["totals"]["pending"] == 0 and
                                   s["totals"]["sent"] == len(seqs), "all messages received", meanwhile=receive)
            self.assertFalse(sub.poll(100))
            self.assertEqual(seqs, sorted(set(seqs)))
            self.assertEqual((status["totals"]["sent"], status["events"].get("disconnected", 0)), (len(seqs), 0))
            self.assertIn("slow", status["events"])
            self.assert_balanced(status)

        self.over([link for link in LINKS if link.we_bind and not link.curve], case)


class Reconnecting(zmq_fixture.InteropTest):
    prefixes = [f"{number}/" for number in range(300)] + ["test"]

    def test_their_subscriber_reconnects_with_all_subscriptions_after_our_restart(self):
        def case(transport):
            first = self.peer("pub", "--bind", self.any_endpoint(transport), "--size", 100)
            sub = self.socket(zmq.SUB)
            for prefix in self.prefixes:
                sub.subscribe(prefix)
            sub.connect(first.endpoint)
            first.wait_for_subscriptions(len(self.prefixes), used(sub))
            first.process.kill()
            first.process.wait()
            second = self.peer("pub", "--bind", first.endpoint, "--size", 100)
            second.wait_for_subscriptions(len(self.prefixes), used(sub))
            second.tell("send 1")
            self.assertEqual(sub.recv_multipart(), [b"test/peer", make_payload(1, 100)])

        self.over(["tcp", "ipc"], case)

    def test_our_subscriber_reconnects_with_all_subscriptions_after_their_restart(self):
        def case(transport):
            xpub = self.socket(zmq.XPUB)
            xpub.bind(self.any_endpoint(transport))
            endpoint = last_endpoint(xpub)
            peer = self.peer("sub", "--connect", endpoint,
                             *(word for prefix in self.prefixes for word in ("--subscribe", prefix)))
            wanted = sorted(b"\1" + prefix.encode() for prefix in self.prefixes)
            self.assertEqual(sorted(xpub.recv() for _ in wanted), wanted)
            peer.tell("unsubscribe 0/")
            self.assertEqual(xpub.recv(), b"\x000/")
            xpub.close()
            peer.wait_for_peers(0)
            again = self.socket(zmq.XPUB)
            self.bind_again(again, endpoint)
            wanted.remove(b"\x010/")
            self.assertEqual(sorted(again.recv() for _ in wanted), wanted)
            again.send_multipart([b"test", make_payload(1, 100)])
            peer.wait_for_received(1)

        self.over(["tcp", "ipc"], case)

    def test_no_message_queued_in_our_dealer_is_lost_when_their_router_restarts(self):
        router = self.socket(zmq.ROUTER)
        router.bind("tcp://127.0.0.1:*")
        endpoint = last_endpoint(router)
        peer = self.peer("dealer", "--connect", endpoint, "--size", 100)
        peer.wait_for_peers(1)
        router.close()
        peer.wait_for_peers(0)
        peer.tell("send 1000")
        again = self.socket(zmq.ROUTER)
        self.bind_again(again, endpoint)
        for seq in range(1, 1001):
            self.assertEqual(again.recv_multipart()[1], make_payload(seq, 100))

    @staticmethod
    def bind_again(again, endpoint):
        """Waits until the port is free: libzmq closes sockets in the background."""
        def bound():
            try:
                again.bind(endpoint)
                return True
            except zmq.ZMQError:
                return False

        eventually(bound, f"{endpoint} is free")


class Handshakes(zmq_fixture.InteropTest):
    def test_their_socket_times_out_on_our_silent_peer_and_connects_later(self):
        peer = self.peer("pub", "--bind", "tcp://127.0.0.1:*", "--size", 100)
        os.kill(peer.pid, signal.SIGSTOP)
        sub = self.socket(zmq.SUB, {zmq.HANDSHAKE_IVL: 300, zmq.SUBSCRIBE: b""})
        monitor = Monitor(self, sub)
        sub.connect(peer.endpoint)
        eventually(lambda: monitor.count(zmq.EVENT_DISCONNECTED) + monitor.count(zmq.EVENT_CLOSED) +
                   monitor.count(zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL) >= 2, "timeout on their side")
        os.kill(peer.pid, signal.SIGCONT)
        peer.wait_for_subscriptions(1, used(sub))
        peer.tell("send 1")
        self.assertEqual(sub.recv_multipart(), [b"test/peer", make_payload(1, 100)])

    def test_a_silent_connection_is_closed_in_time_and_affects_no_other(self):
        peer, sub = self.connected(TCP_LINKS[0], ("pub", "--handshake-ms", 300, "--size", 100),
                                   (zmq.SUB, {zmq.SUBSCRIBE: b""}))
        peer.wait_for_subscriptions(1, used(sub))
        with socket.create_connection(tcp_address(peer.endpoint)) as stranger:
            stranger.settimeout(DEADLINE_S)
            while stranger.recv(100):
                pass
        status = peer.wait_for(lambda s: s["totals"]["handshakes_failed"] == 1, "one failure")
        self.assertEqual(status["peers_count"], 1)
        peer.tell("send 1")
        self.assertEqual(sub.recv_multipart(), [b"test/peer", make_payload(1, 100)])

    def test_a_peer_with_the_wrong_socket_type_is_closed(self):
        peer = self.peer("pub", "--bind", "tcp://127.0.0.1:*")
        for kind in (zmq.PUB, zmq.DEALER, zmq.PULL):
            before = peer.status()["totals"]["handshakes_failed"]
            wrong = self.socket(kind)
            wrong.connect(peer.endpoint)
            peer.wait_for(lambda s: s["totals"]["handshakes_failed"] > before, "a refusal")
            wrong.close()


class Keys(zmq_fixture.InteropTest):
    def serve(self, *arguments):
        """Our publisher with CURVE and an accepted client of theirs."""
        self.server_public, _ = self.key_pair("server")
        os.mkdir(self.path("clients"))
        self.known = self.key_pair("clients/known")
        peer = self.peer("pub", "--bind", "tcp://127.0.0.1:*", "--size", 100,
                         "--curve-server", self.path("server.secret"), *arguments)
        sub = self.client(peer, self.known)
        peer.wait_for_subscriptions(1, used(sub))
        return peer, sub

    def client(self, peer, pair, server_key=None, mechanism=True):
        options = {zmq.SUBSCRIBE: b""}
        if mechanism:
            options.update({zmq.CURVE_SERVERKEY: server_key or self.server_public,
                            zmq.CURVE_PUBLICKEY: pair[0], zmq.CURVE_SECRETKEY: pair[1]})
        sub = self.socket(zmq.SUB, options)
        sub.connect(peer.endpoint)
        return sub

    def assert_refused_while_others_go_on(self, peer, sub, stranger):
        peer.wait_for(lambda s: s["totals"]["handshakes_failed"] > 0, "a refusal")
        peer.tell("send 100")
        for seq in range(1, 101):
            self.assertEqual(sub.recv_multipart(), [b"test/peer", make_payload(seq, 100)])
        self.assertFalse(stranger.poll(100))
        status = peer.status()
        self.assertEqual((status["peers_count"], status["totals"]["sent"]), (1, 100))
        self.assertEqual(status["peers"][0]["curve_key"], self.known[0].decode())

    def test_a_client_with_the_wrong_server_key_is_refused(self):
        peer, sub = self.serve()
        stranger = self.client(peer, zmq.curve_keypair(), server_key=zmq.curve_keypair()[0])
        self.assert_refused_while_others_go_on(peer, sub, stranger)

    def test_a_client_with_an_unknown_key_is_refused(self):
        peer, sub = self.serve("--clients", self.path("clients"))
        self.assert_refused_while_others_go_on(peer, sub, self.client(peer, zmq.curve_keypair()))

    def test_a_client_without_keys_is_refused(self):
        peer, sub = self.serve()
        self.assert_refused_while_others_go_on(peer, sub, self.client(peer, None, mechanism=False))

    def test_their_server_accepts_our_client_only_with_keys(self):
        server_public, server_secret = self.key_pair("server")
        self.key_pair("client")
        self.key_pair("other")
        xpub = self.socket(zmq.XPUB, {zmq.CURVE_SERVER: 1, zmq.CURVE_SECRETKEY: server_secret})
        xpub.bind("tcp://127.0.0.1:*")
        ours = ("sub", "--connect", last_endpoint(xpub), "--subscribe", "")
        plain = self.peer(*ours)
        keys = ("--curve-client", self.path("client.secret"), "--server-key")
        wrong = self.peer(*ours, *keys, self.path("other.public"))
        for peer in (plain, wrong):
            peer.wait_for(lambda s: s["totals"]["handshakes_failed"] > 0, "a refusal")
        right = self.peer(*ours, *keys, self.path("server.public"))
        self.assertEqual(xpub.recv(), b"\1")
        xpub.send_multipart([b"test", make_payload(1, 100)])
        self.assert_whole(right.wait_for_received(1), 1)
        self.assertEqual(right.status()["peers"][0]["curve_key"], server_public.decode())
        for peer in (plain, wrong):
            self.assertEqual(peer.status()["received"]["messages"], 0)


if __name__ == "__main__":
    zmq_fixture.describe()
    unittest.main(verbosity=2)
