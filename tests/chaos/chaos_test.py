"""Peers that are killed, stopped, disconnected, or reconnect all at once must leave no resources behind.

Run by ctest, see peer_process.py. By hand: chaos_test.py [--seconds N] [--seed N] [test ...], where N seconds is how
long peers are killed at random. Every victim is a telegate_peer. The peers around it are telegate_peer and, if this
Python has pyzmq, libzmq.
"""

import argparse
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import time
import unittest

from waiting import eventually, wait_a_moment  # has the path of the next ones
import raw_zmtp
from peer_process import Peer

try:
    import zmq  # noqa: F401
    HAS_LIBZMQ = True
except ImportError:
    HAS_LIBZMQ = False

SECONDS = 8
SEED = random.SystemRandom().randrange(2 ** 32)
# Memory use of instrumented builds differs.
CHECK_MEMORY = os.environ.get("TELEGATE_CHECK_MEMORY", "1") == "1"
CROWD = 1_000
BYTES_PER_IDLE_PEER_MAX = 16 * 1024
MIB = 1024 * 1024

LIBZMQ_SUBSCRIBER = """
import sys, zmq
sub = zmq.Context().socket(zmq.SUB)
sub.setsockopt(zmq.RECONNECT_IVL, 20)
sub.subscribe(b"test")
sub.connect(sys.argv[1])
while True:
    sub.recv_multipart()
"""
LIBZMQ_DEALER = """
import sys, zmq
dealer = zmq.Context().socket(zmq.DEALER)
dealer.connect(sys.argv[1])
seq = 0
while True:
    seq += 1
    dealer.send(seq.to_bytes(8, "big") + bytes([seq % 251]) * 1000)
    while dealer.poll(0):
        dealer.recv()
"""


class Crowd:
    """Processes around a victim that are killed, stopped and replaced at random."""

    def __init__(self, makers, count):
        self.makers = makers
        self.members = [makers[index % len(makers)]() for index in range(count)]

    def disturb(self, chance):
        """Disturbs one of the processes."""
        index = chance.randrange(len(self.members))
        pid = self.members[index].pid
        what = chance.choice(("kill", "kill", "stop", "continue"))
        if what == "kill":
            self.kill(index)
            self.members[index] = chance.choice(self.makers)()
        else:
            os.kill(pid, signal.SIGSTOP if what == "stop" else signal.SIGCONT)

    def kill(self, index):
        member = self.members[index]
        if isinstance(member, Peer):
            member.close()
        else:
            member.kill()
            member.wait()

    def kill_all(self):
        for index in range(len(self.members)):
            self.kill(index)
        self.members = []


class ChaosTest(unittest.TestCase):
    def peer(self, role, *arguments, before=()):
        peer = Peer(role, *arguments, "--deadline-s", 900, before=before)
        self.addCleanup(peer.close)
        return peer

    def crowd(self, makers, count):
        crowd = Crowd(makers, count)
        self.addCleanup(crowd.kill_all)
        return crowd

    def assert_balanced(self, report):
        self.assertTrue(report["balanced"], report)

    def assert_nothing_left(self, peer, descriptors):
        """Checks that all peers are disconnected and their resources released."""
        peer.wait_for_peers(0)
        eventually(lambda: peer.descriptors() <= descriptors, "all descriptors are closed")
        report = peer.quit()
        self.assert_balanced(report)
        self.assertEqual(report["totals"]["pending"], 0)
        return report


def libzmq(program, endpoint):
    return subprocess.Popen([sys.executable, "-c", program, endpoint], stdin=subprocess.DEVNULL)


def makers_of(ours, program, endpoint):
    """Functions that start a member of the crowd."""
    makers = [ours]
    if HAS_LIBZMQ:
        makers.append(lambda: libzmq(program, endpoint))
    return makers


class KilledAndStopped(ChaosTest):
    def test_a_publisher_loses_subscribers_at_random_and_a_witness_misses_nothing(self):
        pub = self.peer("pub", "--bind", "tcp://127.0.0.1:*", "--size", 1_000, "--lossy",
                        "--heartbeat-ms", 200, "--heartbeat-timeout-ms", 3_000, "--backlog-bytes", 8 * MIB)
        descriptors = pub.descriptors()
        witness = self.peer("sub", "--connect", pub.endpoint, "--subscribe", "test")
        pub.wait_for_subscriptions(1)
        ours = lambda: Peer("sub", "--connect", pub.endpoint, "--subscribe", "test", "--deadline-s", 900)
        crowd = self.crowd(makers_of(ours, LIBZMQ_SUBSCRIBER, pub.endpoint), 6)
        pub.tell("rate 5000")
        self.disturb_for(SECONDS, crowd, pub)
        crowd.kill_all()
        pub.tell("rate 0")
        sent = pub.wait_for_peers(1)["numbered"]
        received = witness.wait_for(lambda s: s["received"]["last_seq"] == sent, "the last message")["received"]
        self.assertEqual((received["messages"], received["damaged"], received["missing"]), (sent, 0, 0))
        witness.quit()
        report = self.assert_nothing_left(pub, descriptors)
        print(f"published {sent}, sent {report['totals']['sent']}, dropped {report['totals']['dropped']}, "
              f"connections {report['totals']['connections_accepted']}", flush=True)

    def test_a_router_loses_dealers_at_random_and_a_witness_misses_nothing(self):
        router = self.peer("router", "--echo", "--lossy", "--bind", "tcp://127.0.0.1:*",
                           "--heartbeat-ms", 200, "--heartbeat-timeout-ms", 3_000, "--backlog-bytes", MIB)
        descriptors = router.descriptors()
        witness = self.peer("dealer", "--connect", router.endpoint, "--size", 500)
        router.wait_for_peers(1)

        def ours():
            dealer = Peer("dealer", "--connect", router.endpoint, "--size", 1_000, "--deadline-s", 900)
            dealer.tell("rate 20000")
            return dealer

        crowd = self.crowd(makers_of(ours, LIBZMQ_DEALER, router.endpoint), 4)
        witness.tell("rate 1000")
        self.disturb_for(SECONDS, crowd, router)
        crowd.kill_all()
        router.wait_for_peers(1)
        witness.tell("rate 0")
        sent = witness.wait_for(lambda s: s["to_send"] == 0, "all messages sent")["numbered"]
        received = witness.wait_for_received(sent)["received"]
        self.assertEqual((received["messages"], received["damaged"], received["missing"]), (sent, 0, 0))
        witness.quit()
        self.assert_nothing_left(router, descriptors)

    def disturb_for(self, seconds, crowd, victim):
        chance = random.Random(SEED)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            crowd.disturb(chance)
            self.assert_balanced(victim.status())
            pause_end = time.monotonic() + chance.uniform(0, 0.2)
            while time.monotonic() < pause_end:
                wait_a_moment()

    def test_a_stopped_subscriber_costs_its_backlog_only(self):
        backlog = 4 * MIB
        pub = self.peer("pub", "--bind", "tcp://127.0.0.1:*", "--size", 10_000, "--lossy", "--backlog-bytes", backlog)
        stopped, witness = (self.peer("sub", "--connect", pub.endpoint, "--subscribe", "") for _ in range(2))
        pub.wait_for_subscriptions(2)
        before = pub.rss_bytes()
        os.kill(stopped.pid, signal.SIGSTOP)
        last = 0
        while pub.status()["totals"]["dropped"] * 10_000 <= 5 * backlog:
            # The witness has each burst before the next one, however slow the machine is.
            pub.tell("send 100")
            last = pub.wait_for(lambda s: s["to_send"] == 0, "a burst sent")["numbered"]
            witness.wait_for(lambda s, last=last: s["received"]["last_seq"] == last, "a burst received")
        if CHECK_MEMORY:
            self.assertLess(pub.rss_bytes() - before, 2 * backlog)
        os.kill(stopped.pid, signal.SIGCONT)
        pub.wait_for(lambda s: s["totals"]["pending"] == 0, "all messages sent")
        # The newest message was dropped for the stopped subscriber.
        pub.tell("send 1")
        last += 1
        for sub in (stopped, witness):
            sub.wait_for(lambda s: s["received"]["last_seq"] == last, "the newest message")
        self.assertEqual(witness.status()["received"]["missing"], 0)
        dropped = pub.quit()["totals"]["dropped"]
        self.assertEqual(stopped.status()["received"]["missing"], dropped)


class HalfOpen(ChaosTest):
    """Two network namespaces with one link between them. When the link is down, neither side is notified."""

    def setUp(self):
        if subprocess.run(["unshare", "--net", "true"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no permission to create network namespaces")
        self.here, self.there = self.namespace(), self.namespace()
        made = self.ip(self.here, "link", "add", "veth0", "type", "veth", "peer", "name", "veth1", "netns",
                       str(self.there))
        if made.returncode != 0:
            self.skipTest(f"no veth links: {made.stderr}")
        for pid, device, address in ((self.here, "veth0", "10.99.0.1/24"), (self.there, "veth1", "10.99.0.2/24")):
            self.ip(pid, "address", "add", address, "dev", device)
            self.ip(pid, "link", "set", device, "up")
            self.ip(pid, "link", "set", "lo", "up")

    def namespace(self):
        """Returns the process that holds the namespace, which is removed when the process ends."""
        holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo up; cat"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(holder.communicate)
        holder.stdout.readline()
        return holder.pid

    def ip(self, pid, *words):
        return subprocess.run(["nsenter", "--target", str(pid), "--net", "ip", *words], capture_output=True, text=True)

    def link(self, state):
        self.assertEqual(self.ip(self.there, "link", "set", "veth1", state).returncode, 0)

    def inside(self, pid, role, *arguments):
        return self.peer(role, *arguments, "--heartbeat-ms", 200, "--heartbeat-timeout-ms", 1_000,
                         before=("nsenter", "--target", str(pid), "--net"))

    def test_a_subscriber_behind_a_dead_link_is_detected_and_reconnects(self):
        for rate in (0, 1_000):
            with self.subTest(rate=rate):
                pub = self.inside(self.here, "pub", "--bind", "tcp://10.99.0.1:*", "--lossy")
                descriptors = pub.descriptors()
                sub = self.inside(self.there, "sub", "--connect", pub.endpoint, "--subscribe", "")
                pub.wait_for_subscriptions(1)
                pub.tell(f"rate {rate}")
                self.link("down")
                for end in (pub, sub):
                    end.wait_for(lambda s: s["totals"]["heartbeat_timeouts"] >= 1 and s["peers_count"] == 0, "heartbeat timeout")
                self.link("up")
                pub.wait_for_subscriptions(1)
                last = sub.status()["received"]["messages"]
                pub.tell("send 10")
                sub.wait_for_received(last + 10)
                sub.quit()
                pub.tell("rate 0")
                self.assert_nothing_left(pub, descriptors)

    def test_a_subscriber_that_dies_behind_a_dead_link_leaves_nothing_behind(self):
        pub = self.inside(self.here, "pub", "--bind", "tcp://10.99.0.1:*", "--lossy")
        descriptors = pub.descriptors()
        sub = self.inside(self.there, "sub", "--connect", pub.endpoint, "--subscribe", "")
        pub.wait_for_subscriptions(1)
        pub.tell("rate 1000")
        self.link("down")
        sub.close()
        pub.wait_for_peers(0)
        pub.tell("rate 0")
        self.assertEqual(self.assert_nothing_left(pub, descriptors)["totals"]["heartbeat_timeouts"], 1)

    def test_messages_queued_in_a_dealer_arrive_when_the_link_is_restored(self):
        router = self.inside(self.here, "router", "--echo", "--bind", "tcp://10.99.0.1:*")
        dealer = self.inside(self.there, "dealer", "--identity", "d", "--connect", router.endpoint)
        router.wait_for_peers(1)
        self.link("down")
        dealer.wait_for_peers(0)
        dealer.tell("send 100")
        self.link("up")
        self.assertEqual(dealer.wait_for_received(100)["received"]["missing"], 0)


class Crowds(ChaosTest):
    def setUp(self):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        needed = 2 * CROWD + 500
        if hard != resource.RLIM_INFINITY and hard < needed:
            self.skipTest(f"needs {needed} descriptors; the limit is {hard}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(needed, resource.getrlimit(resource.RLIMIT_NOFILE)[0]), hard))

    def crowd_of_subscribers(self, endpoint):
        return self.peer("sub", "--connect", endpoint, "--subscribe", "test", "--sockets", CROWD)

    def test_a_thousand_subscribers_reconnect_after_a_restart(self):
        first = self.peer("pub", "--bind", "tcp://127.0.0.1:*")
        subs = self.crowd_of_subscribers(first.endpoint)
        first.wait_for_subscriptions(CROWD)
        first.close()
        subs.wait_for_peers(0)
        begin = time.monotonic()
        second = self.peer("pub", "--bind", first.endpoint)
        second.wait_for_subscriptions(CROWD)
        print(f"{CROWD} subscribers reconnected after {time.monotonic() - begin:.1f} s, "
              f"{second.cpu_s():.2f} s of CPU time", flush=True)
        second.tell("send 10")
        received = subs.wait_for_received(10 * CROWD)["received"]
        self.assertEqual((received["messages"], received["damaged"], received["missing"]), (10 * CROWD, 0, 0))
        report = second.quit()
        self.assertEqual((report["totals"]["sent"], report["totals"]["dropped"]), (10 * CROWD, 0))
        self.assert_balanced(report)

    def test_a_thousand_idle_subscribers_cost_little_and_leave_nothing_behind(self):
        pub = self.peer("pub", "--bind", "tcp://127.0.0.1:*")
        descriptors, before = pub.descriptors(), pub.rss_bytes()
        left = []
        for _ in range(2):
            subs = self.crowd_of_subscribers(pub.endpoint)
            pub.wait_for_subscriptions(CROWD)
            pub.tell("send 1")
            subs.wait_for_received(CROWD)
            per_peer = (pub.rss_bytes() - before) // CROWD
            idle_from = pub.cpu_s(), time.monotonic()
            eventually(lambda: time.monotonic() - idle_from[1] > 1, "a second")
            idle = (pub.cpu_s() - idle_from[0]) / (time.monotonic() - idle_from[1])
            subs.quit()
            pub.wait_for_peers(0)
            left.append(pub.rss_bytes())
            print(f"{per_peer} bytes for each of {CROWD} idle subscribers, {100 * idle:.1f} % CPU; "
                  f"after they disconnected {(left[-1] - before) // 1024} KiB more than before", flush=True)
        if CHECK_MEMORY:
            self.assertLess(per_peer, BYTES_PER_IDLE_PEER_MAX)
            self.assertLess(left[1], left[0] + MIB)
        self.assert_nothing_left(pub, descriptors)


class WithoutDescriptors(ChaosTest):
    LIMIT = 64

    def test_a_publisher_without_descriptors_neither_spins_nor_stops(self):
        pub = self.peer("pub", "--bind", "tcp://127.0.0.1:*",
                        before=("prlimit", f"--nofile={self.LIMIT}:{self.LIMIT}"))
        descriptors = pub.descriptors()
        witness = self.peer("sub", "--connect", pub.endpoint, "--subscribe", "")
        pub.wait_for_subscriptions(1)
        strangers = self.fill(pub)
        pub.wait_for(lambda s: s["totals"]["accept_errors"] > 0, "descriptors exhausted")

        cpu, begin = pub.cpu_s(), time.monotonic()
        pub.tell("rate 100")
        witness.wait_for_received(200)  # two seconds
        spent = (pub.cpu_s() - cpu) / (time.monotonic() - begin)
        pub.tell("rate 0")
        print(f"without descriptors: {100 * spent:.0f} % CPU", flush=True)
        self.assertLess(spent, 0.5)
        self.assertEqual(pub.wait_for_peers(1 + self.shaken)["peers_count"], 1 + self.shaken)

        for stranger in strangers:
            stranger.close()
        pub.wait_for_peers(1)
        late = self.peer("sub", "--connect", pub.endpoint, "--subscribe", "")
        pub.wait_for_subscriptions(2)
        pub.tell("send 10")
        late.wait_for_received(10)
        self.assertEqual(witness.status()["received"]["missing"], 0)
        late.quit()
        witness.quit()
        self.assert_nothing_left(pub, descriptors)

    def fill(self, pub):
        """Connects peers with a handshake until the descriptors are exhausted, then as many that are not accepted."""
        strangers = []
        self.shaken = 0
        while len(strangers) < 2 * self.LIMIT:
            connection = socket.create_connection(raw_zmtp.tcp_address(pub.endpoint))
            self.addCleanup(connection.close)
            strangers.append(connection)
            try:
                raw_zmtp.RawPeer(connection, b"SUB", 1)
                self.shaken += 1
            except (EOFError, OSError):  # closed immediately
                pass
        return strangers


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--seed", type=int, default=SEED)
    arguments, others = parser.parse_known_args()
    SECONDS, SEED = arguments.seconds, arguments.seed
    print(f"seed {SEED}; with libzmq: {HAS_LIBZMQ}", flush=True)
    unittest.main(argv=[sys.argv[0], *others], verbosity=2)
