"""Servers of NATS JetStream: a real one, and one that is honest, slow, silent or hostile and speaks just enough of the
protocol."""

import json
import os
import re
import shutil
import socket
import threading
import time

from waiting import wait_a_moment

NATS = os.environ.get("TELEGATE_NATS_SERVER") or shutil.which("nats-server") or "/usr/sbin/nats-server"

INFO = {"server_id": "shapes", "server_name": "shapes", "version": "2.9.10", "proto": 1, "headers": True,
        "max_payload": 1_048_576, "jetstream": True}
STREAM = {"config": {"name": "TELEGATE", "subjects": ["telegate.samples"], "storage": "file", "retention": "limits",
                     "max_msg_size": -1, "duplicate_window": 600_000_000_000}, "state": {"last_seq": 0}}
SLOW_S = 0.05  # for each message
HUGE_BYTES = 1_900_000_000
NOISE = {"huge": bytes(65_536), "pings": b"PING\r\n" * 10_000, "errors": b"-ERR 'Unknown Protocol Operation'\r\n" * 2_000}


class FakeNats:
    """`manner`: honest, slow, silent (never sends a byte), no_tls (requires TLS and never begins it), no_acknowledgment,
    huge (a message of 1.9 GB), pings (which it never reads the responses of), errors (in a loop). Threads: one for each
    connection."""

    def __init__(self, address, manner):
        self.manner = manner
        self.listener = socket.create_server((address, 0))
        self.url = f"nats://{address}:{self.listener.getsockname()[1]}"
        self.messages = []  # (time, headers, payload) as stored
        self.ids = {}
        self.connections, self.is_ended = [], False
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while not self.is_ended:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            if self.manner != "silent":
                info = {**INFO, "tls_required": self.manner == "no_tls"}
                connection.sendall(b"INFO " + json.dumps(info).encode() + b"\r\n")
            if self.manner in ("silent", "no_tls"):
                return connection.recv(1)
            self.talk(connection, connection.makefile("rb"))
        except OSError:
            pass
        return None

    def talk(self, connection, stream):
        subscriptions = {}
        while line := stream.readline():
            words = line.decode().split()
            command = words[0].upper() if words else ""
            if command == "PING":
                connection.sendall(b"PONG\r\n")
            elif command == "SUB":
                subscriptions[words[1].rstrip("*")] = words[-1]
                if self.manner in NOISE:
                    self.annoy(connection, words)
            elif command in ("PUB", "HPUB"):
                data = stream.read(int(words[-1]) + 2)[:-2]
                reply, subject = words[2], words[1]
                answer = self.answer(subject, data, int(words[3]) if command == "HPUB" else 0)
                number = next((sid for prefix, sid in subscriptions.items() if reply.startswith(prefix)), None)
                if answer is not None and number:
                    body = json.dumps(answer).encode()
                    connection.sendall(f"MSG {reply} {number} {len(body)}\r\n".encode() + body + b"\r\n")

    def annoy(self, connection, words):
        if self.manner == "huge":
            connection.sendall(f"MSG {words[1].rstrip('*')}0 {words[-1]} {HUGE_BYTES}\r\n".encode())
        while not self.is_ended:
            connection.sendall(NOISE[self.manner])

    def answer(self, subject, data, head_bytes):
        if subject == "$JS.API.STREAM.NAMES":
            return {"streams": ["TELEGATE"]}
        if subject.startswith("$JS.API.STREAM.INFO."):
            return {**STREAM, "state": {"last_seq": len(self.messages)}}
        if self.manner == "no_acknowledgment":
            return None
        if self.manner == "slow":
            wait_a_moment(SLOW_S)
        headers = dict(re.findall(r"^([\w-]+): (.*?)\r$", data[:head_bytes].decode(), re.M))
        known = self.ids.get(headers["Nats-Msg-Id"])
        if not known:
            self.messages.append((time.monotonic(), headers, data[head_bytes:]))
            known = self.ids[headers["Nats-Msg-Id"]] = len(self.messages)
            return {"stream": "TELEGATE", "seq": known}
        return {"stream": "TELEGATE", "seq": known, "duplicate": True}

    def close(self):
        self.is_ended = True
        for each in (self.listener, *self.connections):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            each.close()


class RealNats:
    """A nats-server; see has_nats()."""

    def __init__(self, folder):
        os.environ.setdefault("TELEGATE_GATEWAY_APP", "")  # is not needed there
        from nats_fixture import NatsServer
        folder.mkdir()
        self.server = NatsServer(str(folder))
        self.url = self.server.url
        self.server.start()
        self.server.add_stream()

    @property
    def messages(self):
        if not self.server.request("STREAM.INFO.TELEGATE", {})["state"]["messages"]:
            return []
        return [(0, headers, payload.encode() if isinstance(payload, str) else payload)
                for headers, payload in self.server.messages()]

    def close(self):
        self.server.kill()


def has_nats():
    return os.access(NATS, os.X_OK)
