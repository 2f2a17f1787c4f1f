"""Shared code of the tests with libzmq: one end is telegate_peer, the other a pyzmq socket of this process.

pyzmq is a Debian package for Debian's python3; without it, the tests are skipped.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import zmq
except ImportError:
    print("skipped: this Python has no pyzmq (Debian package python3-zmq)")
    sys.exit(77)

from peer_process import DEADLINE_S, Peer

# Socket options that a peer cannot observe; set before it binds or connects.
COMMON = {zmq.LINGER: 0, zmq.RCVTIMEO: DEADLINE_S * 1000, zmq.SNDTIMEO: DEADLINE_S * 1000,
          zmq.RECONNECT_IVL: 20}


class Link:
    """A combination of transport, security and binding side."""

    def __init__(self, transport, curve, we_bind):
        self.transport = transport
        self.curve = curve
        self.we_bind = we_bind

    def __str__(self):
        return f"{self.transport} {'CURVE' if self.curve else 'NULL'} {'ours' if self.we_bind else 'theirs'} binds"


LINKS = [Link(transport, curve, we_bind)
         for transport in ("tcp", "ipc") for curve in (False, True) for we_bind in (True, False)]
TCP_LINKS = [link for link in LINKS if link.transport == "tcp" and not link.curve]


class InteropTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="telegate-test-")
        self.addCleanup(shutil.rmtree, self.scratch)
        self.context = zmq.Context()
        self.addCleanup(self.context.destroy, linger=0)
        self.names = 0

    def peer(self, role, *arguments, before=()):
        peer = Peer(role, *arguments, "--deadline-s", 300, before=before)
        self.addCleanup(peer.close)
        return peer

    def socket(self, kind, options=()):
        """Closes it after the test, unless the test does so earlier."""
        socket = self.context.socket(kind)
        self.addCleanup(socket.close)
        for option, value in {**COMMON, **dict(options)}.items():
            socket.setsockopt(option, value)
        return socket

    def stock_process(self, program, *arguments):
        """A separate Python program that can be stopped and killed."""
        process = subprocess.Popen([sys.executable, "-c", program, *arguments], stdin=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def any_endpoint(self, transport):
        """Returns an endpoint to bind: any port, or a new path."""
        self.names += 1
        return "tcp://127.0.0.1:*" if transport == "tcp" else f"ipc://{self.scratch}/{self.names}.ipc"

    def key_pair(self, name):
        """Public and secret key, in memory and as files NAME.public and NAME.secret."""
        public, secret = zmq.curve_keypair()
        for ending, key, mode in (("public", public, 0o644), ("secret", secret, 0o600)):
            with open(os.open(self.path(f"{name}.{ending}"), os.O_CREAT | os.O_WRONLY, mode), "wb") as file:
                file.write(key + b"\n")
        return public, secret

    def path(self, name):
        return os.path.join(self.scratch, name)

    def connected(self, link, ours, theirs):
        """`ours`: role and arguments; `theirs`: kind, and options by number. Returns telegate_peer and the socket after
        the handshake."""
        role, *arguments = ours
        kind, options = theirs
        peer_arguments, options = self.with_keys(link, arguments, dict(options))
        socket = self.socket(kind, options)
        endpoint = self.any_endpoint(link.transport)
        if link.we_bind:
            peer = self.peer(role, "--bind", endpoint, *peer_arguments)
            socket.connect(peer.endpoint)
        else:
            socket.bind(endpoint)
            peer = self.peer(role, "--connect", last_endpoint(socket), *peer_arguments)
        status = peer.wait_for_peers()
        self.assertEqual(status["peers"][0]["mechanism"], "CURVE" if link.curve else "NULL")
        self.assertEqual(status["peers"][0]["zmtp_minor"], libzmq_minor())
        return peer, socket

    def with_keys(self, link, arguments, options):
        """The binding side is the CURVE server."""
        if not link.curve:
            return arguments, options
        server_public, server_secret = self.key_pair("server")
        client_public, client_secret = self.key_pair("client")
        if link.we_bind:
            arguments = [*arguments, "--curve-server", self.path("server.secret")]
            options.update({zmq.CURVE_SERVERKEY: server_public, zmq.CURVE_PUBLICKEY: client_public,
                            zmq.CURVE_SECRETKEY: client_secret})
        else:
            arguments = [*arguments, "--curve-client", self.path("client.secret"),
                         "--server-key", self.path("server.public")]
            options.update({zmq.CURVE_SERVER: 1, zmq.CURVE_SECRETKEY: server_secret})
        return arguments, options

    def over(self, links, case):
        """Runs `case(link)` for each link, and cleans up after each."""
        for link in links:
            with self.subTest(link=str(link)):
                try:
                    case(link)
                finally:
                    self.doCleanups()
                    self.setUp()

    def assert_whole(self, report, messages):
        """Checks that all `messages` arrived unchanged and in order."""
        received = report["received"]
        self.assertEqual((received["messages"], received["damaged"], received["missing"], received["repeated"]),
                         (messages, 0, 0, 0))

    def assert_balanced(self, report):
        self.assertTrue(report["balanced"], report)


def last_endpoint(socket):
    return socket.getsockopt(zmq.LAST_ENDPOINT).rstrip(b"\0").decode()


def used(socket):
    """Must be called while waiting: libzmq reports subscriptions only while the socket's own thread uses it."""
    return lambda: socket.poll(0)


def libzmq_minor():
    """libzmq uses ZMTP 3.1 from version 4.3.3 on, and 3.0 before."""
    return 1 if zmq.zmq_version_info() >= (4, 3, 3) else 0


def describe():
    """Prints the versions for the test log."""
    print(f"libzmq {zmq.zmq_version()} (ZMTP 3.{libzmq_minor()}), pyzmq {zmq.pyzmq_version()}", flush=True)
