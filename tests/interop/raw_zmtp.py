"""A minimal ZMTP 3.x implementation for tests: NULL, both versions, short and long frames."""

import socket

from gateway_process import DEADLINE_S

MORE, LONG, COMMAND = 1, 2, 4


def greeting(minor):
    return b"\xff" + bytes(8) + b"\x7f\x03" + bytes([minor]) + b"NULL".ljust(20, b"\0") + bytes(32)


def frame(body, flags=0):
    if len(body) > 255:
        return bytes([flags | LONG]) + len(body).to_bytes(8, "big") + body
    return bytes([flags, len(body)]) + body


def command(name, data=b""):
    return frame(bytes([len(name)]) + name + data, COMMAND)


def ready(socket_type):
    return command(b"READY", b"\x0bSocket-Type" + len(socket_type).to_bytes(4, "big") + socket_type)


class RawPeer:
    """A TCP connection with a completed handshake, as `socket_type`, with ZMTP 3.`minor`."""

    def __init__(self, connection, socket_type, minor):
        self.connection = connection
        self.connection.settimeout(DEADLINE_S)
        self.send(greeting(minor) + ready(socket_type))
        self.peer_greeting = self.receive_exactly(64)
        flags, body = self.receive_frame()
        assert flags == COMMAND and body.startswith(b"\x05READY"), body

    def send(self, wire):
        self.connection.sendall(wire)

    def receive_exactly(self, count):
        got = b""
        while len(got) < count:
            piece = self.connection.recv(count - len(got))
            if not piece:
                raise EOFError("the peer has closed the connection")
            got += piece
        return got

    def receive_frame(self):
        """Returns the flags without LONG, and the body."""
        flags = self.receive_exactly(1)[0]
        size = int.from_bytes(self.receive_exactly(8 if flags & LONG else 1), "big")
        return flags & ~LONG, self.receive_exactly(size)

    def receive_message(self):
        """Returns the frames of the next message; skips commands."""
        frames = []
        while True:
            flags, body = self.receive_frame()
            if flags & COMMAND:
                continue
            frames.append(body)
            if not flags & MORE:
                return frames

    def close(self):
        self.connection.close()


def connect(endpoint, socket_type, minor):
    return RawPeer(socket.create_connection(tcp_address(endpoint), DEADLINE_S), socket_type, minor)


def tcp_address(endpoint):
    host, port = endpoint.removeprefix("tcp://").rsplit(":", 1)
    return host, int(port)
