"""The http driver with a real Prometheus server, another gateway, and servers that hang.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP. The first test needs the Debian package prometheus.
"""

import http.server
import os
import shutil
import socket
import subprocess
import threading
import unittest

from device_peers import DeviceTest, main
from gateway_process import DEADLINE_S, OWN_ADDRESS

OTHER = """[device "other"]
driver = simulated
waveforms = counter
interval_ms = 20
"""


class Http(DeviceTest):
    @unittest.skipUnless(shutil.which("prometheus"), "no prometheus")
    def test_a_prometheus_server_is_read_as_metrics_and_as_json(self):
        folder = self.scratch()
        with socket.socket() as probe:
            probe.bind((OWN_ADDRESS, 0))
            address = f"{OWN_ADDRESS}:{probe.getsockname()[1]}"
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w") as file:
            file.write(f'scrape_configs: [{{job_name: self, scrape_interval: 1s, '
                       f'static_configs: [{{targets: ["{address}"]}}]}}]\n')
        with open(os.path.join(folder, "log"), "w") as log:
            server = subprocess.Popen(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                                       f"--web.listen-address={address}"], stdout=log, stderr=log)
        self.addCleanup(server.wait, DEADLINE_S)
        self.addCleanup(server.terminate)
        gateway = self.start(f"""[device "all"]
driver = http
url = http://{address}/metrics
format = prometheus
interval_ms = 200
channels_max = 4096
breaker_wait_ms = 100
[device "some"]
driver = http
url = http://{address}/metrics
format = prometheus
interval_ms = 200
breaker_wait_ms = 100
[channel "some/ready"]
source = prometheus_ready
[channel "some/ok"]
source = prometheus_http_requests_total{{handler="/metrics",code="200"}}
[device "query"]
driver = http
url = http://{address}/api/v1/query?query=up
interval_ms = 200
breaker_wait_ms = 100
[channel "query/status"]
source = /status
[channel "query/up"]
source = /data/result/0/value/1
""")
        self.eventually(lambda: gateway.value("query/up") == "1", "the value of the query")
        self.value_becomes(gateway, "query/status", "success")
        self.eventually(lambda: gateway.value("some/ready") == 1, "a metric")
        self.eventually(lambda: (gateway.value("some/ok") or 0) >= 3, "a counter with labels that grows")
        self.eventually(lambda: gateway.value("all/go_goroutines"), "a metric without labels")
        self.value_becomes(gateway, "all/fields.refused", 0)

    def test_another_gateway_is_read(self):
        far = self.start(OTHER)
        near = self.start(f"""[device "far"]
driver = http
url = {far.rest}/status
interval_ms = 50
[channel "far/sampled"]
source = /ledger/total/sampled
[channel "far/state"]
source = /sampler/devices/0/state
[device "metrics"]
driver = http
url = {far.rest}/metrics
format = prometheus
interval_ms = 50
channels_max = 4096
""")
        self.eventually(lambda: near.value("far/state") == "measuring", "a text")
        first = self.eventually(lambda: near.value("far/sampled"), "a counter")
        self.eventually(lambda: (near.value("far/sampled") or 0) > first, "a counter that grows")  # a reading may fail
        self.eventually(lambda: near.value("metrics/telegate_ledger_balanced") == 1, "a metric")
        self.value_becomes(near, "metrics/fields.refused", 0)

        far.stop()
        # While it stops, it may answer 503.
        self.eventually(lambda: near.device("far")["last_error"] == f"{far.rest}/status: cannot connect", "an error")
        self.assertTrue(near.device("far")["last_error_current"])
        self.eventually(lambda: near.value("far/sampled") is None, "no old value as a new one")

    def test_a_hung_server_delays_neither_other_devices_nor_a_stop(self):
        with socket.socket() as deaf:
            deaf.bind(("127.0.0.1", 0))
            deaf.listen()
            gateway = self.start(OTHER + f"""[device "hung"]
driver = http
url = http://127.0.0.1:{deaf.getsockname()[1]}/
timeout_ms = 10000
interval_ms = 20
""")
            connection, _ = deaf.accept()
            with connection:
                reader = self.reader(gateway, "other/")
                self.eventually(lambda: len(reader.of("other/counter")) >= 50, "samples of the other device")
                self.assertEqual(gateway.device("hung")["reads"], 0)
                self.assertLess(gateway.stop(), 5)
                self.assertEqual(gateway.process.returncode, 0)

    def test_the_token_is_sent_and_never_shown(self):
        seen = []

        class Server(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                seen.append(self.headers["Authorization"])
                self.send_response(200)
                self.send_header("Content-Length", "7")
                self.end_headers()
                self.wfile.write(b'{"a":1}')

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        folder = self.scratch()
        with open(os.path.join(folder, "token"), "w") as token:
            token.write("open-sesame\n")
        gateway = self.start(f"""[device "d"]
driver = http
url = http://127.0.0.1:{server.server_address[1]}/
token_file = {folder}/token
interval_ms = 50
""", folder)
        self.eventually(lambda: gateway.value("d/a") == 1, "a value")
        self.assertEqual(set(seen), {"Bearer open-sesame"})
        self.assertNotIn("open-sesame", gateway.text("/config") + gateway.log())


if __name__ == "__main__":
    main()
