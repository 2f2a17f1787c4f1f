"""gateway_app writes its durable log to real databases, while both are killed and misconfigured.

The log is read with the reader of docs/log-format.md, and the databases with their own queries. Run by ctest with the
path of the program in TELEGATE_GATEWAY_APP.
"""

import base64
import http.server
import select
import signal
import socket
import socketserver
import ssl
import subprocess
import threading

import log_page
from database_fixture import InfluxDB, VictoriaMetrics
from device_peers import DeviceTest, main
from gateway_process import OWN_ADDRESS

SETTINGS = """[gateway]
state_file = {folder}/state.json
[log]
path = {folder}/log
sync_interval = 20ms
[device "sim"]
driver = simulated
waveforms = sine, counter
interval_ms = %s
[uplink "db"]
type = influxdb
url = %s
database = test
lag_alarm = 1s
"""


class RefusingServer(http.server.ThreadingHTTPServer):
    """Responds to each request with the next of `answers`, (status, headers), and with the last one from then on."""

    daemon_threads = True

    def __init__(self, answers, context=None):
        super().__init__((OWN_ADDRESS, 0), self.Handler)
        self.answers, self.requests = list(answers), []
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.url = f"http{'s' if context else ''}://{OWN_ADDRESS}:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # a client that does not trust the certificate ends the connection

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.server.requests.append((self.path, dict(self.headers), body))
            answers = self.server.answers
            status, headers = answers.pop(0) if len(answers) > 1 else answers[0]
            self.send_response(status)
            for name, value in {"Content-Length": "0", **headers}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *arguments):
            pass


class Proxy(socketserver.ThreadingTCPServer):
    """Passes on connections that are requested by CONNECT."""

    daemon_threads = True

    def __init__(self):
        super().__init__((OWN_ADDRESS, 0), self.Handler)
        self.requests = []
        self.url = f"http://{OWN_ADDRESS}:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += self.request.recv(1)
            self.server.requests.append(head.decode())
            host, port = head.split()[1].decode().split(":")
            with socket.create_connection((host, int(port))) as server:
                self.request.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                ends = {self.request: server, server: self.request}
                while True:
                    for end in select.select(list(ends), [], [])[0]:
                        data = end.recv(65536)
                        if not data:
                            return
                        ends[end].sendall(data)


class Influxdb(DeviceTest):
    def setUp(self):
        self.folder = self.scratch()
        self.database = InfluxDB(self.folder)
        self.addCleanup(self.database.kill)

    def start_gateway(self, more="", interval_ms=2, url=None):
        return self.start(SETTINGS % (interval_ms, url or self.database.url) + more, self.folder)

    def refusing_server(self, answers, context=None):
        server = RefusingServer(answers, context)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def uplink(self, gateway):
        uplink = gateway.json("/uplinks/db")
        self.assertTrue(uplink["samples"]["balanced"])
        return uplink

    def acknowledged(self, gateway, count):
        self.eventually(lambda: self.uplink(gateway)["samples"]["acknowledged"] >= count, f"{count} samples",
                        lambda: self.uplink(gateway))

    def fails(self, gateway, text):
        self.eventually(lambda: text in (self.uplink(gateway)["error"] or ""), text, lambda: self.uplink(gateway))

    def deliver_all(self, gateway):
        """Stops sampling, and waits until everything is delivered."""
        gateway.text("/stop", "POST")
        sampled = gateway.status()["ledger"]["total"]["sampled"]

        def is_logged():
            log = gateway.status()["log"]
            return log["samples"] >= sampled and log["synced_position"] == log["next_position"]

        self.eventually(is_logged, "the log")
        end = gateway.status()["log"]["next_position"]
        self.eventually(lambda: self.uplink(gateway)["position"] == end, "delivery of everything",
                        lambda: self.uplink(gateway))

    def logged(self, topic):
        """Returns the values of a channel in the log by time."""
        lines = [line.split() for line in log_page.read(f"{self.folder}/log")]
        return {int(line[3]): float(line[4]) for line in lines if line[1] == topic and line[3].isdigit()}

    def check_complete(self):
        for channel in "sine", "counter":
            logged = self.logged(f"sim/{channel}")
            self.assertGreater(len(logged), 100)
            self.assertEqual(logged, self.database.values("sim", channel))

    def test_every_sample_is_in_the_database_once_with_its_time_and_value(self):
        self.database.start()
        gateway = self.start_gateway()
        self.fails(gateway, "404 Not Found: database not found")
        self.database.create()
        self.acknowledged(gateway, 500)
        self.deliver_all(gateway)
        self.check_complete()
        uplink = self.uplink(gateway)
        self.assertEqual(("influxdb", "test", True, None, 0),
                         (uplink["type"], uplink["target"], uplink["connected"], uplink["error"], uplink["lag_s"]))

    def test_a_database_that_is_killed_again_and_again_misses_nothing(self):
        self.database.start()
        self.database.create()
        gateway = self.start_gateway()
        for _ in range(3):
            self.acknowledged(gateway, self.uplink(gateway)["samples"]["acknowledged"] + 200)
            self.database.kill()
            self.eventually(lambda: not self.uplink(gateway)["connected"], "the end of the connection")
            self.database.start()
        self.deliver_all(gateway)
        self.check_complete()

    def test_a_gateway_that_is_killed_again_and_again_delivers_everything_that_it_logged(self):
        self.database.start()
        self.database.create()
        for _ in range(3):
            gateway = self.start_gateway()
            self.acknowledged(gateway, 100)
            gateway.stop(signal.SIGKILL)
        gateway = self.start_gateway()
        self.acknowledged(gateway, 200)
        self.deliver_all(gateway)
        self.check_complete()

    def test_samples_of_another_type_are_quarantined_with_the_reason_and_the_others_are_delivered(self):
        self.database.start()
        self.database.create()
        request = f"{self.database.url}/write?db=test"
        subprocess.run(["curl", "-sS", "--fail", request, "--data-binary", 'sim counter="text"'], check=True)
        gateway = self.start_gateway(interval_ms=50)
        self.eventually(lambda: gateway.json("/uplinks/db/quarantine")["samples"], "a quarantined sample",
                        lambda: self.uplink(gateway))
        self.deliver_all(gateway)
        refused = gateway.json("/uplinks/db/quarantine")["samples"]
        self.assertEqual({"sim/counter"}, {each["topic"] for each in refused})
        self.assertIn("field type conflict", refused[0]["reason"])
        self.assertEqual(self.logged("sim/sine"), self.database.values("sim", "sine"))
        gaps = self.database.points("telegate_gaps")
        self.assertEqual(len(refused), sum(each["missing"] for each in gaps))
        self.assertEqual({("counter", "sim", "refused")},
                         {(each["channel"], each["device"], each["reason"]) for each in gaps})
        self.assertEqual(len(refused), self.uplink(gateway)["samples"]["quarantined"])

    def test_a_database_with_users_requires_the_credentials_in_the_file(self):
        self.database.start()
        self.database.ask("CREATE USER admin WITH PASSWORD 'xyzzy-42' WITH ALL PRIVILEGES", "POST")
        self.database.kill()
        self.database.users = True
        self.database.start()
        self.database.create()
        path = f"{self.folder}/credentials"
        with open(path, "w") as file:
            file.write("admin wrong\n")
        gateway = self.start_gateway(f"credentials_file = {path}\n")
        self.fails(gateway, "401 Unauthorized: authorization failed")
        with open(path, "w") as file:
            file.write("admin xyzzy-42\n")
        gateway.text("/uplinks/db/pause", "POST")
        self.database.kill()
        self.database.start()
        gateway.text("/uplinks/db/resume", "POST")
        self.acknowledged(gateway, 200)
        for page in "/uplinks", "/config", "/status", "/metrics":
            self.assertNotIn("xyzzy-42", gateway.text(page))
        self.assertNotIn("xyzzy-42", gateway.log())

    def test_a_rewind_changes_nothing_in_the_database(self):
        self.database.start()
        self.database.create()
        gateway = self.start_gateway()
        self.acknowledged(gateway, 300)
        self.deliver_all(gateway)
        sent = self.uplink(gateway)["messages"]["sent"]
        subprocess.run(["curl", "-sS", "--fail", "-X", "POST", f"{gateway.rest}/uplinks/db/rewind", "-H",
                        "Content-Type: application/json", "-d", '{"position":0}'], check=True, stdout=subprocess.DEVNULL)
        self.eventually(lambda: self.uplink(gateway)["messages"]["sent"] > sent, "another message")
        self.deliver_all(gateway)
        self.check_complete()

    def test_a_busy_server_is_not_disturbed_before_the_time_that_it_requests(self):
        server = self.refusing_server([(503, {"Retry-After": "3600"})])
        gateway = self.start_gateway(url=server.url)
        self.fails(gateway, "503 Service Unavailable")
        before = len(server.requests)
        self.acknowledged(gateway, 0)
        self.eventually(lambda: self.uplink(gateway)["lag_s"] > 1, "a lag")
        self.assertEqual(before, len(server.requests))

    def certificate(self, name):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", f"{self.folder}/{name}.key", "-out", f"{self.folder}/{name}.pem", "-days", "1",
                        "-subj", f"/CN={name}", "-addext", f"subjectAltName=IP:{OWN_ADDRESS}"], check=True,
                       capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{self.folder}/{name}.pem", f"{self.folder}/{name}.key")
        return context

    def test_an_encrypted_connection_can_use_a_proxy(self):
        server, proxy = self.refusing_server([(204, {})], self.certificate("server")), Proxy()
        self.addCleanup(proxy.server_close)
        self.addCleanup(proxy.shutdown)
        gateway = self.start_gateway(f"tls_ca = {self.folder}/server.pem\nproxy = {proxy.url}\n", url=server.url)
        self.acknowledged(gateway, 100)
        self.assertIn(f"CONNECT {server.url.removeprefix('https://')} HTTP/1.1", proxy.requests[0])

    def test_nothing_secret_is_sent_to_a_server_without_a_trusted_certificate(self):
        self.certificate("other")
        server = self.refusing_server([(204, {})], self.certificate("server"))
        with open(f"{self.folder}/token", "w") as file:
            file.write("gateway s3cr3t\n")
        tls = f"credentials_file = {self.folder}/token\ntls_ca = {self.folder}/%s.pem\n"
        gateway = self.start_gateway(tls % "other", url=server.url)
        self.fails(gateway, "certificate verify failed")
        self.assertEqual([], server.requests)
        gateway.stop()
        gateway = self.start_gateway(tls % "server", url=server.url)
        self.acknowledged(gateway, 100)
        path, headers, _ = server.requests[0]
        self.assertEqual("/write?db=test&precision=ns", path)
        self.assertEqual("Basic " + base64.b64encode(b"gateway:s3cr3t").decode(), headers["Authorization"])


class Victoria(Influxdb):
    """VictoriaMetrics: times have milliseconds, and acknowledged points can be lost."""

    def setUp(self):
        super().setUp()
        self.database = VictoriaMetrics(self.folder)
        self.addCleanup(self.database.kill)

    def check_complete(self):
        for channel in "sine", "counter":
            logged = {}
            for time, value in self.logged(f"sim/{channel}").items():
                logged.setdefault(time // 1_000_000, []).append(value)
            # New points become visible after a while.
            self.eventually(lambda: set(self.database.values("sim", channel)) >= set(logged), "all points")
            stored = self.database.values("sim", channel)
            self.assertEqual(set(logged), set(stored))
            self.assertEqual([], [time for time, values in logged.items()
                                  if min(abs(stored[time] - value) for value in values) > 1e-9])

    def test_every_sample_is_in_the_database_once_with_its_time_and_value(self):
        self.database.start()
        gateway = self.start_gateway(interval_ms=5)
        self.acknowledged(gateway, 500)
        self.deliver_all(gateway)
        self.check_complete()

    def test_a_database_that_is_killed_again_and_again_misses_nothing(self):
        self.database.start()
        gateway = self.start_gateway(interval_ms=5)
        for _ in range(3):
            self.acknowledged(gateway, self.uplink(gateway)["samples"]["acknowledged"] + 200)
            self.database.kill()
            self.eventually(lambda: not self.uplink(gateway)["connected"], "the end of the connection")
            self.database.start()
        self.deliver_all(gateway)
        self.check_complete()


# The other tests of the base class need users or types, which VictoriaMetrics does not have.
for name in [each for each in dir(Influxdb) if each.startswith("test_") and each not in vars(Victoria)]:
    setattr(Victoria, name, None)

if __name__ == "__main__":
    main()
