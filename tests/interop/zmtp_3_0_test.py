"""Our publisher with ZMTP 3.0 subscribers that share no code with libzmq: go-zeromq and zmq.rs.

Run by ctest, see peer_process.py. tools/fetch_zmtp_peers.sh builds the subscribers into TELEGATE_ZMTP_PEERS; missing
ones are skipped.
"""

import os
import select
import subprocess
import sys
import unittest

from peer_process import DEADLINE_S, Peer
from raw_zmtp import COMMAND, connect

PROGRAMS = [path for path in (os.path.join(os.environ["TELEGATE_ZMTP_PEERS"], name) for name in ("go_zeromq", "zmq_rs"))
            if os.path.exists(path)]
SILENT_PEERS = 3


class Subscriber:
    def __init__(self, program, endpoint, prefix):
        self.process = subprocess.Popen([program, endpoint, prefix], stdout=subprocess.PIPE, text=True)

    def line(self):
        """Returns the next message as the number of its frames and the first frame."""
        if not select.select([self.process.stdout], [], [], DEADLINE_S)[0]:
            raise AssertionError("the subscriber received nothing")
        return self.process.stdout.readline().split()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Zmtp30(unittest.TestCase):
    def test_an_idle_subscriber_stays_connected_beyond_the_timeout_and_receives_only_messages(self):
        for program in PROGRAMS:
            with self.subTest(os.path.basename(program)):
                self.stays(program)

    def stays(self, program):
        peer = Peer("pub", "--bind", "tcp://127.0.0.1:*", "--heartbeat-ms", 100, "--heartbeat-timeout-ms", 500)
        self.addCleanup(peer.close)
        subscriber = Subscriber(program, peer.endpoint, "test/")
        self.addCleanup(subscriber.close)
        self.assertEqual(0, peer.wait_for_subscriptions(1)["peers"][0]["zmtp_minor"])
        peer.tell("send 1")
        self.assertEqual(["2", "test/peer"], subscriber.line())
        for _ in range(SILENT_PEERS):
            self.outlast_one_that_is_silent(peer)
        peer.tell("send 1")
        self.assertEqual(["2", "test/peer"], subscriber.line())
        events = peer.wait_for(lambda s: s["events"].get("disconnected", 0) >= SILENT_PEERS, "their ends")["events"]
        self.assertEqual((1 + SILENT_PEERS, SILENT_PEERS), (events["handshake_done"], events["disconnected"]))

    def outlast_one_that_is_silent(self, peer):
        """A ZMTP 3.1 peer that does not answer PING is disconnected."""
        silent = connect(peer.endpoint, b"SUB", 1)
        self.addCleanup(silent.close)
        with self.assertRaises(EOFError):
            while True:
                self.assertEqual(COMMAND, silent.receive_frame()[0])


if __name__ == "__main__":
    if not PROGRAMS:
        print("skipped: no subscriber in " + os.environ["TELEGATE_ZMTP_PEERS"] + "; see tools/fetch_zmtp_peers.sh")
        sys.exit(77)
    unittest.main(verbosity=2)
