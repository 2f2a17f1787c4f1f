"""Our sockets with those of JeroMQ, which shares no code with libzmq and speaks ZMTP 3.0.

Run by ctest, see peer_process.py. Maven copies the jars into TELEGATE_JEROMQ_DIR; where Java, Maven or the network is
absent, the tests are skipped.
"""

import glob
import os
import select
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from peer_process import DEADLINE_S, Peer  # noqa: E402

JARS = os.environ["TELEGATE_JEROMQ_DIR"]
MAVEN_S = 120
CONNECT_S = 3
CONNECT_ATTEMPTS = 20
MESSAGES = 1_000
SIZE = 300
BULK_SIZE = 64 * 1024
BULK_BYTES = int(os.environ.get("TELEGATE_INTEROP_BYTES", 2 ** 28))


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def fetch_jars():
    for program, package in (("java", "a JDK, 17 or newer"), ("mvn", "Maven")):
        if not shutil.which(program):
            skip(f"no {program} in PATH ({package})")
    if not glob.glob(os.path.join(JARS, "jeromq-*.jar")):
        fetched = subprocess.run(
            ["mvn", "--quiet", "--batch-mode", "--file", os.path.join(HERE, "pom.xml"),
             "dependency:copy-dependencies", f"-DoutputDirectory={JARS}"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=MAVEN_S)
        if fetched.returncode != 0:
            skip(f"Maven gets no JeroMQ:\n{fetched.stdout[-1000:]}")


def is_joined_anew(status, accepted_before):
    """Whether of all connections one is left, a peer's, and one was accepted beyond so many."""
    events = status["events"]
    accepted = events.get("accepted", 0)
    ended = events.get("handshake_failed", 0) + events.get("disconnected", 0)
    return status["peers_count"] == 1 and accepted > accepted_before and accepted - ended == 1


class Jeromq:
    """One Java program with the sockets of JeroMQ."""

    def __init__(self):
        self.process = subprocess.Popen(
            ["java", "-XX:TieredStopAtLevel=1", "-cp", os.path.join(JARS, "*"), os.path.join(HERE, "JeromqPeer.java")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def begin(self, *words):
        """Gives the command; finish() waits for its answer."""
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def finish(self):
        if not select.select([self.process.stdout], [], [], 2 * DEADLINE_S)[0]:
            raise AssertionError("JeroMQ says nothing")
        line = self.process.stdout.readline().rstrip("\n")
        verdict, _, answer = line.partition(" ")
        if verdict != "ok":
            raise AssertionError(f"JeroMQ: {line}")
        return answer

    def tell(self, *words):
        self.begin(*words)
        return self.finish()

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


class WithJeromq(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.java = Jeromq()
        cls.addClassCleanup(cls.java.close)

    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="telegate-test-")
        self.addCleanup(shutil.rmtree, self.scratch)

    def peer(self, role, *arguments):
        peer = Peer(role, *arguments, "--deadline-s", 300)
        self.addCleanup(peer.close)
        return peer

    def keys(self, name):
        """A key pair made by JeroMQ, also as files."""
        public, secret = self.java.tell("keys").split()
        for ending, key, mode in (("public", public, 0o644), ("secret", secret, 0o600)):
            path = os.path.join(self.scratch, f"{name}.{ending}")
            with open(os.open(path, os.O_CREAT | os.O_WRONLY, mode), "w") as file:
                file.write(key + "\n")
        return public, secret

    def connected(self, ours, theirs, we_bind, curve=False):
        """Both ends joined over tcp; theirs has the name "j". Whoever binds is the CURVE server."""
        arguments, options = self.with_keys(we_bind) if curve else ((), ())
        self.java.tell("open", "j", *theirs, *options)
        self.addCleanup(self.java.tell, "close", "j")
        if we_bind:
            peer = self.peer(ours[0], "--bind", "tcp://127.0.0.1:*", *ours[1:], *arguments)

            def open_anew():  # a socket used again would still tell what the connection before it has said
                self.java.tell("close", "j")
                self.java.tell("open", "j", *theirs, *options)

            self.java.tell("connect", "j", peer.endpoint)
            self.wait_for_connect(peer, open_anew)
        else:
            endpoint = self.java.tell("bind", "j", "tcp://127.0.0.1:*")
            peer = self.peer(ours[0], "--connect", endpoint, *ours[1:], *arguments)
        status = peer.wait_for_peers()
        self.assertEqual(status["peers"][0]["zmtp_minor"], 0)
        self.assertEqual(status["peers"][0]["mechanism"], "CURVE" if curve else "NULL")
        return peer

    def wait_for_connect(self, peer, give_up):
        """Now and then JeroMQ connects, then says nothing, whoever listens, and never tries again. Then this gives the
        connection up and tries. The silent connection may still shake hands meanwhile: what is sent on it would be
        lost, so it must have ended."""
        accepted_before = 0
        for attempt in range(1, CONNECT_ATTEMPTS + 1):
            try:
                return peer.wait_for(lambda s: is_joined_anew(s, accepted_before), "a peer and no other connection",
                                     CONNECT_S)
            except AssertionError:
                if attempt == CONNECT_ATTEMPTS:
                    raise
                give_up()
                accepted_before = peer.status()["events"].get("accepted", 0)
                self.java.tell("connect", "j", peer.endpoint)

    def pump(self):
        self.java.tell("pump", "j")

    def with_keys(self, we_bind):
        server_public, server_secret = self.keys("server")
        client_public, client_secret = self.keys("client")
        path = os.path.join(self.scratch, "")
        if we_bind:
            return (("--curve-server", path + "server.secret"),
                    (f"curve_server_key={server_public}", f"curve_public={client_public}",
                     f"curve_secret={client_secret}"))
        return (("--curve-client", path + "client.secret", "--server-key", path + "server.public"),
                (f"curve_server_secret={server_secret}",))

    def both_ways(self, case):
        """Runs `case(connected)` with either side binding, with and without CURVE."""
        for we_bind in (True, False):
            for curve in (False, True):
                with self.subTest(we_bind=we_bind, curve=curve):
                    try:
                        case(lambda ours, theirs: self.connected(ours, theirs, we_bind, curve))
                    finally:
                        self.doCleanups()
                        self.setUp()

    def assert_whole(self, report, messages):
        received = report["received"]
        self.assertEqual((received["messages"], received["damaged"], received["missing"], received["repeated"]),
                         (messages, 0, 0, 0))

    def test_their_sub_gets_what_it_has_subscribed(self):
        def case(connected):
            peer = connected(("pub", "--size", SIZE), ("SUB",))
            self.java.tell("subscribe", "j", "test/")
            peer.wait_for_subscriptions(1, self.pump)
            peer.tell(f"send {MESSAGES}")
            self.java.tell("receive", "j", 1, MESSAGES, SIZE, 2)
            self.java.tell("unsubscribe", "j", "test/")
            peer.wait_for_subscriptions(0, self.pump)
            self.assertEqual(peer.quit()["totals"]["violations"], 0)

        self.both_ways(case)

    def test_our_sub_gets_what_their_xpub_sends(self):
        def case(connected):
            peer = connected(("sub", "--subscribe", "test/", "--subscribe", "p" * 254), ("XPUB",))
            told = sorted(self.java.tell("receive_text", "j") for _ in range(2))
            self.assertEqual(told, ["01" + "70" * 254, "01" + b"test/".hex()])
            self.java.tell("send", "j", 1, MESSAGES, SIZE, "test/java")
            self.assert_whole(peer.wait_for_received(MESSAGES), MESSAGES)
            peer.tell("unsubscribe test/")
            self.assertEqual(self.java.tell("receive_text", "j"), "00" + b"test/".hex())

        self.both_ways(case)

    def test_our_sub_gets_what_their_pub_sends(self):
        peer = self.connected(("sub", "--subscribe", "test/"), ("PUB",), we_bind=True)

        def probed(status):  # PUB does not tell when the subscription is there
            self.java.tell("send", "j", 1, 1, SIZE, "test/probe")
            return status["received"]["messages"] > 0

        before = peer.wait_for(probed, "a first message")["received"]["messages"]
        self.java.tell("send", "j", 1, MESSAGES, SIZE, "test/java")
        received = peer.wait_for(lambda s: s["received"]["last_seq"] == MESSAGES, "the last message")["received"]
        self.assertGreaterEqual(received["messages"], before + MESSAGES)
        self.assertEqual((received["damaged"], received["missing"]), (0, 0))

    def test_their_xsub_subscribes_with_messages(self):
        peer = self.connected(("pub", "--size", SIZE), ("XSUB",), we_bind=True)
        self.java.tell("send_text", "j", "01" + b"test/".hex())
        peer.wait_for_subscriptions(1, self.pump)
        peer.tell("send 10")
        self.java.tell("receive", "j", 1, 10, SIZE, 2)

    def test_our_dealer_asks_their_router(self):
        def case(connected):
            peer = connected(("dealer", "--identity", "ours", "--size", SIZE), ("ROUTER",))
            peer.tell(f"send {MESSAGES}")
            self.java.tell("echo", "j", MESSAGES)
            self.assert_whole(peer.wait_for_received(MESSAGES), MESSAGES)

        self.both_ways(case)

    def test_our_dealer_asks_their_rep(self):
        def case(connected):
            peer = connected(("dealer", "--delimiter", "--size", SIZE), ("REP",))
            peer.tell(f"send {MESSAGES}")
            self.java.tell("echo", "j", MESSAGES)
            self.assert_whole(peer.wait_for_received(MESSAGES), MESSAGES)

        self.both_ways(case)

    def test_their_dealer_asks_our_router(self):
        def case(connected):
            peer = connected(("router", "--echo"), ("DEALER", "identity=theirs"))
            self.assertEqual(bytes.fromhex(peer.status()["peers"][0]["identity_hex"]), b"theirs")
            self.java.tell("send", "j", 1, MESSAGES, SIZE, "-", "head")
            self.java.tell("receive", "j", 1, MESSAGES, SIZE, 3)
            self.assert_whole(peer.status(), MESSAGES)

        self.both_ways(case)

    def test_their_req_asks_our_router(self):
        def case(connected):
            connected(("router", "--echo"), ("REQ",))
            for seq in range(1, 101):
                self.java.tell("send", "j", seq, 1, SIZE)
                self.java.tell("receive", "j", seq, 1, SIZE, 1)

        self.both_ways(case)

    def test_routers_talk_by_identity(self):
        def case(connected):
            peer = connected(("router", "--identity", "ours", "--alias", "theirs", "--size", SIZE),
                             ("ROUTER", "identity=theirs"))
            peer.tell(f"send {MESSAGES}")
            self.java.tell("echo", "j", MESSAGES)
            self.assert_whole(peer.wait_for_received(MESSAGES), MESSAGES)

        self.both_ways(case)

    def test_frames_of_every_edge_size_come_back(self):
        def case(connected):
            connected(("router", "--echo"), ("DEALER",))
            for size in (8, 254, 255, 256, 257, 8191, 8192, 65536, 2 ** 20, 2 ** 23 + 1):
                self.java.tell("send", "j", size, 1, size, "-", "head")
                self.java.tell("receive", "j", size, 1, size, 3)

        self.both_ways(case)

    def test_large_messages_come_whole_in_both_directions(self):
        count = BULK_BYTES // BULK_SIZE
        peer = self.connected(("dealer", "--size", BULK_SIZE), ("DEALER",), we_bind=True)
        self.java.begin("receive", "j", 1, count, BULK_SIZE, 1)
        peer.tell(f"send {count}")
        self.java.finish()
        self.java.tell("send", "j", 1, count, BULK_SIZE)
        report = peer.wait_for_received(count)
        self.assert_whole(report, count)
        self.assertEqual((report["totals"]["sent"], report["totals"]["dropped"]), (count, 0))

    def test_their_heartbeats_keep_an_idle_connection(self):
        peer = self.connected(("router", "--heartbeat-ms", 100, "--heartbeat-timeout-ms", 1_000),
                              ("DEALER", "heartbeat_ms=100", "heartbeat_timeout_ms=1000"), we_bind=True)
        start = peer.status()["totals"]["bytes_received"]
        peer.wait_for(lambda s: s["totals"]["bytes_received"] > start + 200, "some seconds of heartbeats")
        status = peer.status()
        self.assertNotIn("disconnected", status["events"])
        self.assertIsNone(status["peers"][0]["round_trip_us"])  # they speak ZMTP 3.0, so we ask nothing

    def test_their_subscriber_comes_back_after_our_restart(self):
        first = self.connected(("pub", "--size", SIZE), ("SUB",), we_bind=True)
        for prefix in ("a", "test/", "b"):
            self.java.tell("subscribe", "j", prefix)
        first.wait_for_subscriptions(3, self.pump)
        first.process.kill()
        first.process.wait()
        second = self.peer("pub", "--bind", first.endpoint, "--size", SIZE)
        self.wait_for_connect(second, lambda: self.java.tell("disconnect", "j", second.endpoint))
        second.wait_for_subscriptions(3, self.pump)
        second.tell("send 10")
        self.java.tell("receive", "j", 1, 10, SIZE, 2)


if __name__ == "__main__":
    fetch_jars()
    unittest.main(verbosity=2)
