"""A nats-server with JetStream, and a client that uses nothing but a socket.

Without a nats-server (Debian package nats-server, or a path in TELEGATE_NATS_SERVER), the tests are skipped.
"""

import base64
import itertools
import json
import os
import re
import shutil
import socket
import subprocess
import sys

from device_peers import DEADLINE_S, OWN_ADDRESS, eventually

SERVER = os.environ.get("TELEGATE_NATS_SERVER") or shutil.which("nats-server") or "/usr/sbin/nats-server"
if not os.access(SERVER, os.X_OK):
    print("skipped: no nats-server (Debian package nats-server)")
    sys.exit(77)


class NatsClient:
    """One connection. Requests are answered in order."""

    def __init__(self, port, credentials):
        self.socket = socket.create_connection((OWN_ADDRESS, port), DEADLINE_S)
        self.stream = self.socket.makefile("rb")
        self.numbers = itertools.count()
        options = {"verbose": False, "headers": True, "no_responders": True, "protocol": 1, **credentials}
        self.send(b"CONNECT " + json.dumps(options).encode() + b"\r\nSUB _INBOX.test.* 1\r\nPING\r\n")
        while not (line := self.stream.readline()).startswith(b"PONG"):
            if not line or line.startswith(b"-ERR"):
                raise ConnectionError(line)

    def send(self, data):
        self.socket.sendall(data)

    def close(self):
        self.stream.close()
        self.socket.close()

    def request(self, subject, content):
        """Returns the response as JSON."""
        body = json.dumps(content).encode()
        reply = f"_INBOX.test.{next(self.numbers)}"
        self.send(f"PUB {subject} {reply} {len(body)}\r\n".encode() + body + b"\r\n")
        while line := self.stream.readline():
            words = line.decode().split()
            if words[0] == "PING":
                self.send(b"PONG\r\n")
            elif words[0] in ("MSG", "HMSG"):
                data = self.stream.read(int(words[-1]) + 2)[:-2]
                if words[1] == reply:
                    return json.loads(data) if words[0] == "MSG" else {"error": data.decode()}
        raise ConnectionError("the server closed the connection")


class NatsServer:
    """A server that can be killed and started again with the same files and port."""

    def __init__(self, folder, settings=""):
        self.folder, self.process, self.credentials = folder, None, {}
        with socket.create_server((OWN_ADDRESS, 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"nats://{OWN_ADDRESS}:{self.port}"
        self.configure(settings)

    def configure(self, settings):
        with open(f"{self.folder}/nats.conf", "w") as file:
            file.write(f'listen: "{OWN_ADDRESS}:{self.port}"\njetstream {{ store_dir: "{self.folder}/jetstream" }}\n' + settings)

    def start(self):
        with open(f"{self.folder}/nats.log", "a") as log:
            self.process = subprocess.Popen([SERVER, "-c", f"{self.folder}/nats.conf"], stderr=log, stdout=log)
        eventually(self.is_ready)

    def is_ready(self):
        try:
            client = self.client()
        except OSError:
            return False
        try:
            return "error" not in client.request("$JS.API.INFO", {})
        finally:
            client.close()

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def client(self):
        return NatsClient(self.port, self.credentials)

    def request(self, subject, content):
        client = self.client()
        try:
            return client.request("$JS.API." + subject, content)
        finally:
            client.close()

    def add_stream(self, **options):
        reply = self.request("STREAM.CREATE.TELEGATE", {
            "name": "TELEGATE", "subjects": ["telegate.samples"], "storage": "file", "retention": "limits",
            "num_replicas": 1, "duplicate_window": 120_000_000_000, **options})
        assert "error" not in reply, reply

    def messages(self):
        """Returns headers and payload of all messages of the stream."""
        client = self.client()
        try:
            state = client.request("$JS.API.STREAM.INFO.TELEGATE", {})["state"]
            found = []
            for number in range(state["first_seq"], state["last_seq"] + 1):
                message = client.request("$JS.API.STREAM.MSG.GET.TELEGATE", {"seq": number})["message"]
                headers = base64.b64decode(message["hdrs"]).decode()
                found.append((dict(re.findall(r"^([\w-]+): (.*?)\r$", headers, re.M)),
                              base64.b64decode(message.get("data", "")).decode()))
            return found
        finally:
            client.close()


class Received:
    """The samples and gaps in the messages of a stream, by epoch and topic."""

    def __init__(self, messages):
        self.samples, self.missing, self.duplicates, self.inversions = {}, {}, 0, 0
        for _, payload in messages:
            for line in payload.splitlines():
                self.add(json.loads(line))

    def add(self, each):
        key = (each["epoch"], each["device"] + "/" + each["channel"])
        if "first_seq" in each:
            self.missing.setdefault(key, set()).update(range(each["first_seq"], each["last_seq"] + 1))
            return
        samples = self.samples.setdefault(key, {})
        self.duplicates += each["seq"] in samples
        self.inversions += bool(samples) and each["seq"] < max(samples)
        samples[each["seq"]] = each

    def unexplained(self):
        """Returns the numbers up to the last one that are neither received nor named as missing."""
        found = {}
        for key in self.samples.keys() | self.missing.keys():
            known = self.samples.get(key, {}).keys() | self.missing.get(key, set())
            if left := set(range(1, max(known) + 1)) - known:
                found[key] = sorted(left)
        return found
