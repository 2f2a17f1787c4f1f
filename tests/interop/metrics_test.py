"""The metrics of a running gateway_app checked with promtool, the reference parser, and a Prometheus server.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP. Needs the Debian packages prometheus and
python3-prometheus-client.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import unittest
import urllib.request

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open_metrics
    from prometheus_client.parser import text_string_to_metric_families as parse_prometheus
except ImportError:
    print("skipped: this Python has no prometheus_client (Debian package python3-prometheus-client)")
    sys.exit(77)
if not shutil.which("promtool") or not shutil.which("prometheus"):
    print("skipped: no promtool or prometheus (Debian package prometheus)")
    sys.exit(77)

from gateway_process import DEADLINE_S, Gateway, eventually  # noqa: E402
from patient_http import answer_to  # noqa: E402

SOURCE = os.environ["TELEGATE_SOURCE_DIR"]

SETTINGS = """sampling_interval_ms = 50
[rest]
listen = 127.0.0.1:0
[publish "tcp"]
endpoint = tcp://127.0.0.1:0
[device "simulated"]
driver = simulated
"""
OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway(SETTINGS)
        eventually(lambda: "telegate_channel_value{" in cls.gateway.text("/metrics"), "a first sample")

    @classmethod
    def tearDownClass(cls):
        cls.gateway.close()

    def metrics(self, path, accept="*/*"):
        request = urllib.request.Request(self.gateway.rest + path, headers={"Accept": accept})
        _, fields, body = answer_to(request, DEADLINE_S)
        return fields["Content-Type"], body.decode()

    def test_promtool_finds_no_problem(self):
        _, text = self.metrics("/metrics")
        checked = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True)
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))

    def test_the_reference_parser_reads_the_text_format(self):
        kind, text = self.metrics("/metrics", "text/plain")
        self.assertTrue(kind.startswith("text/plain; version=0.0.4"))
        families = {family.name: family for family in parse_prometheus(text)}
        self.assertEqual(families["telegate_samples_sampled"].type, "counter")
        self.assertGreater(families["process_resident_memory_bytes"].samples[0].value, 1e6)

    def test_the_reference_parser_reads_open_metrics(self):
        kind, text = self.metrics("/metrics", OPEN_METRICS)
        self.assertTrue(kind.startswith(OPEN_METRICS), kind)
        families = {family.name: family for family in parse_open_metrics(text)}
        self.assertEqual(families["telegate_build"].type, "info")
        self.assertEqual(families["telegate_device_lateness_seconds"].unit, "seconds")
        self.assertEqual(families["telegate_ledger_balanced"].samples[0].value, 1)

    def test_both_formats_have_the_same_metrics(self):
        old = {family.name for family in parse_prometheus(self.metrics("/metrics")[1])}
        new = {family.name for family in parse_open_metrics(self.metrics("/metrics", OPEN_METRICS)[1])}
        self.assertEqual({name.removesuffix("_info") for name in old}, new)

    def test_process_metrics_match_the_process(self):
        def values():
            families = {family.name: family for family in parse_prometheus(self.metrics("/metrics")[1])}
            return {name: family.samples[0].value for name, family in families.items()}
        process = f"/proc/{self.gateway.process.pid}"
        eventually(lambda: values()["process_threads"] == len(os.listdir(f"{process}/task")), "the same number of threads")
        value = values()
        self.assertLess(abs(value["process_open_fds"] - len(os.listdir(f"{process}/fd"))), 4)
        self.assertLess(abs(value["process_start_time_seconds"] - time.time()), 600)

    def test_a_prometheus_server_scrapes_it(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        config, target = self.gateway.path("prometheus.yml"), self.gateway.rest.removeprefix("http://")
        with open(config, "w") as file:
            file.write("global: {scrape_interval: 1s}\nscrape_configs: [{job_name: telegate, "
                       f'static_configs: [{{targets: ["{target}"]}}]}}]\n'
                       f'rule_files: ["{SOURCE}/packaging/prometheus/telegate.rules.yml"]\n')
        with open(self.gateway.path("prometheus.log"), "w") as log:
            server = subprocess.Popen(
                ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.gateway.path('data')}",
                 f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
        try:
            def ask(query):
                try:
                    address = f"http://127.0.0.1:{port}/api/v1/query?query={query}"
                    with urllib.request.urlopen(address, timeout=DEADLINE_S) as answer:
                        result = json.load(answer)["data"]["result"]
                        return result and float(result[0]["value"][1])
                except OSError:
                    return None  # not listening yet
            eventually(lambda: ask("count_over_time(up[1m])") and ask("count_over_time(up[1m])") >= 3, "the third scrape")
            # On a busy machine, a scrape may take longer than the second that it has.
            eventually(lambda: ask("up") == 1, "a successful scrape")
            eventually(lambda: ask("telegate_ledger_balanced") == 1, "a metric")
            eventually(lambda: ask("rate(telegate_samples_sampled_total[1m])"), "a rate")
        finally:
            server.terminate()
            server.wait(DEADLINE_S)


class Rules(unittest.TestCase):
    def promtool(self, *arguments):
        result = subprocess.run(["promtool", *arguments], text=True, capture_output=True,
                                cwd=os.path.join(SOURCE, "tests", "packaging"))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_the_alert_rules_are_valid(self):
        self.promtool("check", "rules", "../../packaging/prometheus/telegate.rules.yml")

    def test_alerts_are_inactive_pending_and_firing_as_expected(self):
        self.promtool("test", "rules", "telegate.rules.test.yml")


if __name__ == "__main__":
    unittest.main()
