"""gateway_app with named sockets passed by the service manager: LISTEN_FDS and related variables.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP.
"""

import errno
import os
import signal
import socket
import sys
import unittest
import urllib.request

from daemon import APP, DEADLINE_S, Daemon, eventually

SETTINGS = """[rest]
listen = 127.0.0.1:0
[publish "numbers"]
endpoint = tcp://127.0.0.1:PORT
[publish "local"]
endpoint = ipc://SCRATCH/pub.ipc
"""
GREETING = b"\xff" + bytes(8) + b"\x7f\x03"
FIRST = 3  # descriptor
# Moves the given descriptors to consecutive numbers starting with FIRST, closes all others, and executes the daemon, so
# that LISTEN_PID can be its own.
ACTIVATOR = """
import os, sys
numbers, command = sys.argv[1].split(","), sys.argv[2:]
high = [os.dup2(int(number), 200 + i) for i, number in enumerate(numbers) if number]
for i, descriptor in enumerate(high):
    os.dup2(descriptor, 3 + i)
    os.close(descriptor)
os.closerange(3 + len(high), 200)
os.environ["LISTEN_PID"] = os.environ.get("LISTEN_PID") or str(os.getpid())
os.execv(command[0], command)
"""


class Activated(Daemon):
    def __init__(self, settings, make_sockets, names, environment=None):
        sockets = {}

        def before(daemon):
            sockets.update(make_sockets(daemon))
            daemon.command = [sys.executable, "-c", ACTIVATOR,
                              ",".join(str(each.fileno()) for each in sockets.values()), APP]

        variables = {"LISTEN_FDS": str(len(names)), "LISTEN_FDNAMES": ":".join(names), **(environment or {})}
        super().__init__(settings, environment=variables, before=before,
                         pass_fds=lambda: [each.fileno() for each in sockets.values()])
        for each in sockets.values():
            each.close()


class SocketActivation(unittest.TestCase):
    def start(self, *arguments, **options):
        daemon = Activated(*arguments, **options)
        self.addCleanup(daemon.close)
        return daemon

    def tcp(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        return listener

    def local(self, daemon, name="pub.ipc"):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(daemon.path(name))
        listener.listen()
        return listener

    def settings(self):
        return SETTINGS.replace("PORT", str(self.port))

    def test_endpoints_use_the_sockets_with_their_names(self):
        numbers = self.tcp()
        # A client connects before the daemon is started, which is the purpose of socket activation.
        early = socket.create_connection(numbers.getsockname())
        self.addCleanup(early.close)
        daemon = self.start(self.settings(), lambda d: {"a": self.local(d), "b": numbers}, ["local", "numbers"])
        daemon.ready()
        self.assertNotIn("warning", daemon.log())
        early.settimeout(DEADLINE_S)
        self.assertEqual(early.recv(len(GREETING), socket.MSG_WAITALL)[:1], GREETING[:1])
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(daemon.path("pub.ipc"))
            client.settimeout(DEADLINE_S)
            self.assertEqual(client.recv(1), GREETING[:1])
        self.assertEqual(daemon.stop(), 0)
        self.assertTrue(os.path.exists(daemon.path("pub.ipc")), "the file belongs to the manager")

    def test_the_rest_server_uses_the_socket_named_http(self):
        http = self.tcp()
        daemon = self.start(SETTINGS.replace("127.0.0.1:0", f"127.0.0.1:{self.port}", 1).replace("PORT", "0"),
                            lambda d: {"a": http}, ["http"])
        daemon.ready()
        self.assertNotIn("warning", daemon.log())
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/livez", timeout=DEADLINE_S) as answer:
            self.assertEqual(answer.status, 200)
        self.assertEqual(daemon.stop(), 0)

    def test_a_socket_with_another_address_is_refused_and_both_addresses_are_named(self):
        numbers = self.tcp()
        other = self.tcp()
        daemon = self.start(self.settings(), lambda d: {"a": numbers}, ["numbers"])
        self.assertEqual(daemon.process.wait(DEADLINE_S), 69)
        self.assertIn(f"tcp://127.0.0.1:{self.port}: the inherited socket is bound to tcp://127.0.0.1:",
                      daemon.log())
        other.close()

    def test_a_socket_without_a_section_of_its_name_is_closed_with_a_warning(self):
        unknown = self.tcp()
        address = unknown.getsockname()
        daemon = self.start(self.settings().replace(str(self.port), "0"), lambda d: {"a": unknown}, ["unheard-of"])
        daemon.ready()
        self.assertIn('closing inherited socket: no section has this name name="unheard-of" descriptor=3', daemon.log())
        self.assertTrue(eventually(lambda: self.refuses(address)))

    def refuses(self, address):
        with socket.socket() as client:
            client.settimeout(1)
            return client.connect_ex(address) == errno.ECONNREFUSED

    def test_sockets_for_another_process_are_left_alone(self):
        daemon = self.start(SETTINGS.replace("PORT", "0"),
                            lambda d: {"a": self.tcp()}, ["numbers"], environment={"LISTEN_PID": "1"})
        daemon.ready()
        self.assertNotIn("warning", daemon.log())
        daemon.send(signal.SIGTERM)
        self.assertEqual(daemon.process.wait(DEADLINE_S), 0)

    def test_a_descriptor_that_is_not_a_socket_is_reported(self):
        daemon = self.start(SETTINGS.replace("PORT", "0"), lambda d: {"a": open(d.config)}, ["numbers"])
        daemon.ready()
        self.assertIn('inherited descriptor is not a socket name="numbers" descriptor=3', daemon.log())


if __name__ == "__main__":
    unittest.main(verbosity=2)
