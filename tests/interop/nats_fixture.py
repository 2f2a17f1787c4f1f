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
import ssl
import subprocess
import sys

from gateway_process import DEADLINE_S, OWN_ADDRESS, eventually, free_port

SERVER = os.environ.get("TELEGATE_NATS_SERVER") or shutil.which("nats-server") or "/usr/sbin/nats-server"
if not os.access(SERVER, os.X_OK):
    print("skipped: no nats-server (Debian package nats-server)")
    sys.exit(77)


STREAM = {"name": "TELEGATE", "subjects": ["telegate.samples"], "storage": "file", "retention": "limits", "num_replicas": 1,
          "duplicate_window": 120_000_000_000}


def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


class Nkey:
    """A key pair of a user (U), an account (A) or an operator (O), in the notation of NATS."""

    def __init__(self, kind):
        self.der = subprocess.run(["openssl", "genpkey", "-algorithm", "ED25519", "-outform", "DER"], check=True,
                                  capture_output=True).stdout
        public = subprocess.run(["openssl", "pkey", "-inform", "DER", "-pubout", "-outform", "DER"], input=self.der,
                                check=True, capture_output=True).stdout
        prefix = base64.b32decode(kind + "A======")[0]
        self.public = self.encode(bytes([prefix]), public[-32:])
        self.seed = self.encode(bytes([18 << 3 | prefix >> 5, (prefix & 31) << 3]), self.der[-32:])

    @staticmethod
    def encode(prefix, key):
        data = prefix + key
        return base64.b32encode(data + crc16(data).to_bytes(2, "little")).decode().rstrip("=")

    def jwt(self, subject, name, claims, folder):
        """Returns a token about `subject` that this key has signed."""
        def encoded(data):
            return base64.urlsafe_b64encode(data).rstrip(b"=")
        content = {"jti": "X", "iat": 1, "iss": self.public, "name": name, "sub": subject, "nats": {**claims, "version": 2}}
        text = encoded(b'{"typ":"JWT","alg":"ed25519-nkey"}') + b"." + encoded(json.dumps(content).encode())
        with open(f"{folder}/jwt.key", "wb") as key, open(f"{folder}/jwt.text", "wb") as unsigned:
            key.write(self.der)
            unsigned.write(text)
        signature = subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-keyform", "DER", "-inkey", key.name, "-in",
                                    unsigned.name], check=True, capture_output=True).stdout
        return (text + b"." + encoded(signature)).decode()


class Certificates:
    """A certificate authority, and certificates that it has signed, in files."""

    def __init__(self, folder):
        self.folder, self.ca = folder, f"{folder}/ca.pem"
        self.openssl("req", "-x509", "-newkey", "ed25519", "-nodes", "-keyout", f"{folder}/ca.key", "-out", self.ca, "-days",
                     "2", "-subj", "/CN=test CA")

    @staticmethod
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)

    def add(self, name, names):
        """Returns the paths of a certificate and its key."""
        base = f"{self.folder}/{name}"
        with open(f"{base}.ext", "w") as file:
            file.write(f"subjectAltName = {names}\n")
        self.openssl("req", "-newkey", "ed25519", "-nodes", "-keyout", f"{base}.key", "-out", f"{base}.csr", "-subj",
                     f"/CN={name}")
        self.openssl("x509", "-req", "-in", f"{base}.csr", "-CA", self.ca, "-CAkey", f"{self.folder}/ca.key",
                     "-CAcreateserial", "-days", "2", "-extfile", f"{base}.ext", "-out", f"{base}.pem")
        return f"{base}.pem", f"{base}.key"

    def client_context(self):
        context = ssl.create_default_context(cafile=self.ca)
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # since Python 3.13, the default requires more extensions
        return context


class NatsClient:
    """One connection. Requests are answered in order."""

    def __init__(self, address, credentials, tls=None, timeout_s=DEADLINE_S, own_address=""):
        self.socket = socket.create_connection(address, timeout_s, (own_address, 0))
        if tls is not None:  # begins after the first line
            while self.socket.recv(1) != b"\n":
                pass
            self.socket = tls.wrap_socket(self.socket)
        self.stream = self.socket.makefile("rb")
        self.numbers = itertools.count()
        options = {"verbose": False, "headers": True, "no_responders": True, "protocol": 1, **credentials}
        self.send(b"CONNECT " + json.dumps(options).encode() + b"\r\nSUB _INBOX.test.* 1\r\nPING\r\n")
        while not (line := self.stream.readline()).startswith(b"PONG"):
            if not line or line.startswith(b"-ERR"):
                raise ConnectionError(line)

    def send(self, data):
        self.socket.sendall(data)

    def publish(self, subject, payload):
        self.send(f"PUB {subject} {len(payload)}\r\n".encode() + payload + b"\r\n")

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

    def __init__(self, folder, settings="", address=OWN_ADDRESS, prefix=(), client_address=""):
        self.folder, self.process, self.credentials, self.tls = folder, None, {}, None
        self.address, self.prefix, self.client_address = address, prefix, client_address
        self.port = free_port()
        self.url = f"nats://{address}:{self.port}"
        self.configure(settings)

    def configure(self, settings):
        with open(f"{self.folder}/nats.conf", "w") as file:
            file.write(f'listen: "{self.address}:{self.port}"\njetstream {{ store_dir: "{self.store()}" }}\n' + settings)

    def store(self):
        return f"{self.folder}/jetstream"

    def wipe(self):
        """Deletes everything that the server has stored; it must not be running."""
        shutil.rmtree(self.store())

    def start_without_check(self):
        with open(f"{self.folder}/nats.log", "a") as log:
            self.process = subprocess.Popen([*self.prefix, SERVER, "-c", f"{self.folder}/nats.conf"], stderr=log, stdout=log)

    def start(self):
        self.start_without_check()
        eventually(self.is_ready)

    def is_ready(self):
        try:
            return "error" not in self.request("INFO", {}, timeout_s=2)
        except OSError:
            return False

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def client(self, timeout_s=DEADLINE_S):
        return NatsClient((self.address, self.port), self.credentials, self.tls, timeout_s, self.client_address)

    def request(self, subject, content, timeout_s=DEADLINE_S):
        client = self.client(timeout_s)
        try:
            return client.request("$JS.API." + subject, content)
        finally:
            client.close()

    def add_stream(self, **options):
        stream = {**STREAM, **options}
        reply = self.request(f"STREAM.CREATE.{stream['name']}", stream)
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
                headers = dict(re.findall(r"^([\w-]+): (.*?)\r$", headers, re.M))
                payload = base64.b64decode(message.get("data", ""))
                is_text = headers.get("Telegate-Format", "json") == "json"
                found.append(({**headers, "subject": message["subject"], "time": message["time"]}, payload.decode() if is_text else payload))
            return found
        finally:
            client.close()


class NatsCluster:
    """Servers with one stream that all of them have. `places` are further arguments of the servers."""

    def __init__(self, folder, places=({}, {}, {})):
        self.nodes = []
        routes = [f"{place.get('address', OWN_ADDRESS)}:{free_port()}" for place in places]
        for number, (route, place) in enumerate(zip(routes, places)):
            os.makedirs(f"{folder}/n{number}")
            node = NatsServer(f"{folder}/n{number}", **place)
            node.name = f"n{number}"
            node.cluster = (f'server_name: n{number}\ncluster {{ name: telegate, listen: "{route}", '
                            f'routes: [{", ".join(f"nats-route://{each}" for each in routes)}] }}\n')
            self.nodes.append(node)

    def configure(self, settings, advertised):
        """`advertised` are the addresses that clients are to use."""
        for node, address in zip(self.nodes, advertised):
            node.configure(f'{node.cluster}client_advertise: "{address}"\n{settings}')

    def start(self, **options):
        for node in self.nodes:
            node.start_without_check()
        self.request("STREAM.CREATE.TELEGATE", {**STREAM, "num_replicas": len(self.nodes), **options})

    def request(self, subject, content):
        """Repeats the request until one of the servers carries it out."""
        def reply():
            for node in self.nodes:
                try:
                    found = node.request(subject, content, timeout_s=2)
                except OSError:
                    continue
                if "error" not in found:
                    return found
            return None
        found = eventually(reply)
        assert found, f"{subject} is refused"
        return found

    def info(self):
        return self.request("STREAM.INFO.TELEGATE", {})

    def leader(self):
        name = self.info()["cluster"].get("leader")
        return next((node for node in self.nodes if node.name == name), None)

    def is_current(self):
        """Returns whether all servers have all messages."""
        cluster = self.info()["cluster"]
        return cluster.get("leader") and len(cluster["replicas"]) == len(self.nodes) - 1 and \
            all(each["current"] and not each.get("offline") for each in cluster["replicas"])

    def kill(self):
        for node in self.nodes:
            node.kill()


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
        """Returns the numbers up to the last one that are neither received nor reported as missing."""
        found = {}
        for key in self.samples.keys() | self.missing.keys():
            known = self.samples.get(key, {}).keys() | self.missing.get(key, set())
            if left := set(range(1, max(known) + 1)) - known:
                found[key] = sorted(left)
        return found
