"""Our PUB and SUB with libzmq's SUB, XSUB, PUB and XPUB, in both directions. Run by ctest, see peer_process.py."""

import threading
import unittest

import zmq_fixture
import zmq
from peer_process import eventually, make_payload
from zmq_fixture import LINKS, TCP_LINKS, last_endpoint, used

MESSAGES = 2_000
SIZE = 200
KEEP_ALL = {zmq.RCVHWM: 0, zmq.SNDHWM: 0}

# In a separate process that is killed: libzmq's destructor overflows the stack for such a long subscription.
GREEDY = """
import sys, zmq
sub = zmq.Context().socket(zmq.SUB)
sub.subscribe(b"t" * 2 ** 20)
sub.connect(sys.argv[1])
sub.recv()
"""


class PubSub(zmq_fixture.InteropTest):
    def receive_numbered(self, socket, first, last, topic=b"test/peer"):
        for seq in range(first, last + 1):
            self.assertEqual(socket.recv_multipart(), [topic, make_payload(seq, SIZE)])

    def publish_numbered(self, socket, count, topic=b"test/peer", first=1):
        for seq in range(first, first + count):
            socket.send_multipart([topic, make_payload(seq, SIZE)])

    def our_pub(self, link, kind=zmq.SUB, options=()):
        return self.connected(link, ("pub", "--size", SIZE), (kind, {**KEEP_ALL, **dict(options)}))

    def our_sub(self, link, *prefixes, kind=zmq.XPUB):
        arguments = [word for prefix in prefixes for word in ("--subscribe", prefix)]
        return self.connected(link, ("sub", *arguments), (kind, KEEP_ALL))

    def test_their_sub_receives_everything_from_our_pub(self):
        def case(link):
            peer, sub = self.our_pub(link, options={zmq.SUBSCRIBE: b"test/"})
            peer.wait_for_subscriptions(1, used(sub))
            peer.tell(f"send {MESSAGES}")
            self.receive_numbered(sub, 1, MESSAGES)
            report = peer.quit()
            self.assertEqual((report["totals"]["sent"], report["totals"]["dropped"]), (MESSAGES, 0))
            self.assert_balanced(report)

        self.over(LINKS, case)

    def test_our_sub_receives_everything_from_their_pub(self):
        def case(link):
            peer, pub = self.our_sub(link, "test/", "probe", kind=zmq.PUB)

            def probed():  # PUB does not report when the subscriptions have arrived
                pub.send(b"probe")
                return peer.status()["received"]["messages"]

            eventually(probed, "a first message")
            self.publish_numbered(pub, MESSAGES)
            pub.send(b"not for us")
            report = peer.wait_for(lambda s: s["received"]["last_seq"] == MESSAGES, "the last message")
            self.assertEqual(report["received"]["missing"] + report["received"]["repeated"], 0)
            self.assertEqual(report["received"]["messages"], MESSAGES + report["received"]["damaged"])

        self.over(LINKS, case)

    def test_their_xpub_receives_the_subscriptions_of_our_sub(self):
        def case(link):
            peer, xpub = self.our_sub(link, "a", "")
            self.assertEqual(sorted(xpub.recv() for _ in range(2)), [b"\1", b"\1a"])
            peer.tell("subscribe b")
            self.assertEqual(xpub.recv(), b"\1b")
            peer.tell("unsubscribe a")
            self.assertEqual(xpub.recv(), b"\0a")
            self.publish_numbered(xpub, MESSAGES)
            self.assert_whole(peer.wait_for_received(MESSAGES), MESSAGES)

        self.over(LINKS, case)

    def test_their_xsub_subscribes_with_messages(self):
        def case(link):
            peer, xsub = self.our_pub(link, kind=zmq.XSUB)
            for prefix in (b"test/peer", b"other"):
                xsub.send(b"\1" + prefix)
            peer.wait_for_subscriptions(2, used(xsub))
            peer.tell(f"send {MESSAGES}")
            self.receive_numbered(xsub, 1, MESSAGES)
            xsub.send(b"\0test/peer")
            peer.wait_for_subscriptions(1, used(xsub))
            peer.tell("send 1")
            xsub.send(b"\1test")
            peer.wait_for_subscriptions(2, used(xsub))
            peer.tell("send 1")
            self.receive_numbered(xsub, MESSAGES + 2, MESSAGES + 2)
            self.assertEqual(peer.quit()["totals"]["violations"], 0)

        self.over(LINKS, case)

    def test_messages_pass_through_their_proxy(self):
        front, back = self.socket(zmq.XSUB, KEEP_ALL), self.socket(zmq.XPUB, KEEP_ALL)
        front.bind("tcp://127.0.0.1:*")
        back.bind(f"ipc://{self.path('back.ipc')}")
        endpoints = last_endpoint(front), last_endpoint(back)
        ends = self.socket(zmq.PAIR), self.socket(zmq.PAIR)
        ends[0].bind("inproc://control")
        ends[1].connect("inproc://control")
        proxy = threading.Thread(target=lambda: zmq.proxy_steerable(front, back, None, ends[1]))
        proxy.start()
        self.addCleanup(proxy.join)
        self.addCleanup(ends[0].send, b"TERMINATE")

        pub = self.peer("pub", "--connect", endpoints[0], "--size", SIZE)
        subs = [self.peer("sub", "--connect", endpoints[1], "--subscribe", prefix) for prefix in ("", "test/p")]
        pub.wait_for_subscriptions(2)
        pub.tell(f"send {MESSAGES}")
        for sub in subs:
            self.assert_whole(sub.wait_for_received(MESSAGES), MESSAGES)
        subs[0].quit()
        pub.wait_for_subscriptions(1)

    def test_subscriptions_are_a_set(self):
        peer, sub = self.our_pub(TCP_LINKS[0])
        for _ in range(3):
            sub.subscribe(b"test")
        peer.wait_for_subscriptions(1, used(sub))
        for _ in range(3):
            sub.unsubscribe(b"test")
        peer.wait_for_subscriptions(0, used(sub))

    def test_a_message_of_a_hundred_frames_arrives_complete(self):
        def case(link):
            peer, xpub = self.our_sub(link, "many")
            xpub.recv()
            for seq in range(1, 11):
                xpub.send_multipart([b"many"] + [make_payload(seq, SIZE)] * 99)
            report = peer.wait_for_received(10)
            self.assert_whole(report, 10)
            self.assertEqual(report["received"]["frames"], 1000)

        self.over(LINKS, case)

    def test_a_message_with_a_topic_of_a_megabyte_arrives_complete(self):
        peer, xpub = self.our_sub(TCP_LINKS[1], "")
        xpub.recv()
        xpub.send_multipart([b"t" * 2 ** 20, make_payload(1, SIZE)])
        report = peer.wait_for_received(1)
        self.assert_whole(report, 1)
        self.assertEqual(report["received"]["bytes"], 2 ** 20 + SIZE)

    def test_a_subscription_of_a_megabyte_is_refused_and_affects_no_other(self):
        def case(link):
            peer, sub = self.our_pub(link, options={zmq.SUBSCRIBE: b"test"})
            peer.wait_for_subscriptions(1, used(sub))
            peer.tell(f"send {MESSAGES}")
            greedy = self.stock_process(GREEDY, peer.endpoint)
            peer.wait_for(lambda s: s["totals"]["violations"] + s["totals"]["subscriptions_refused"] > 0, "a refusal")
            greedy.kill()
            greedy.wait()
            peer.tell(f"send {MESSAGES}")
            self.receive_numbered(sub, 1, 2 * MESSAGES)
            peer.wait_for_peers(1)

        self.over([link for link in LINKS if link.we_bind and not link.curve], case)

    def test_many_subscriptions_of_all_lengths_arrive(self):
        prefixes = [b"%d/" % number + b"x" * number for number in range(500)]
        peer, sub = self.our_pub(TCP_LINKS[0])
        for prefix in prefixes:
            sub.subscribe(prefix)
        peer.wait_for_subscriptions(len(prefixes), used(sub))
        sub.subscribe(b"test/peer")
        peer.wait_for_subscriptions(len(prefixes) + 1, used(sub))
        peer.tell("send 10")
        self.receive_numbered(sub, 1, 10)


if __name__ == "__main__":
    zmq_fixture.describe()
    unittest.main(verbosity=2)
