"""The gateway's own page in Chromium.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP and the folder of axe-core in TELEGATE_CHECKERS.
"""

import csv
import http.server
import io
import json
import os
import pathlib
import shutil
import socket
import sys
import tempfile
import threading
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "interop"))
from browser import Browser, eventually, skip_without_browser  # noqa: E402

skip_without_browser()
from device_peers import OWN_ADDRESS, Gateway  # noqa: E402

AXE = pathlib.Path(os.environ.get("TELEGATE_CHECKERS", "")) / "node/node_modules/axe-core/axe.min.js"
VIEWS = ("overview", "channels", "delivery", "ledger", "settings")
SETTINGS = """[gateway]
queue_size = 1000
[log]
path = {folder}/log
[device "signal"]
driver = simulated
waveforms = sine, counter
interval_ms = 50
[channel "signal/counter"]
alarm_high = 3
[device "broken"]
driver = simulated
waveforms = ramp
interval_ms = 50
error_probability = 1
"""
BURSTS = """[gateway]
queue_size = 60
[device "bursty"]
driver = simulated
waveforms = counter
interval_ms = 50
burst_probability = 0.05
burst_samples = 100
"""
TOKENS = "reader watcher 5p0zWb8Qy3kE1nTqAAAA\nadmin operator y2m1lZc0f7XhUo9vR4sJ\n"


def cell(row, column):
    """Returns a selector of a cell in the table of devices."""
    return f"{row} > [data-title='{column}']"


class ThePage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway(SETTINGS)
        cls.addClassCleanup(cls.gateway.close)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.open(self.gateway)

    def tearDown(self):
        self.check_console()

    def check_console(self):
        """No script has failed, and nothing has violated the Content-Security-Policy."""
        faults = [each["message"] for each in self.browser.console()
                  if each["level"] == "SEVERE" and "Failed to load resource" not in each["message"]]
        self.assertEqual(faults, [])

    def open(self, gateway, address="#/overview"):
        self.browser.open("about:blank")
        self.browser.requests()
        self.browser.open(gateway.rest + "/" + address)

    def go(self, address):
        self.browser.run("location.hash = arguments[0]", address)

    def rows(self, table):
        """Returns the texts of the cells of a table, one list for each row."""
        return self.browser.run("return [...document.querySelectorAll(`table[aria-label='${arguments[0]}'] > tbody:not([aria-hidden]) > tr`)]"
                                ".map(row => [...row.children].map(cell => cell.textContent))", table)

    def row(self, table, name):
        return next((row for row in self.rows(table) if row[0].startswith(name)), None)

    def device_row(self, name):
        return f"tr:has(> th > a[href*='{name}'])"

    def confirm(self):
        self.browser.click("#confirm-yes")

    def test_overview_shows_what_rest_says(self):
        self.browser.shows("#health", "Ready")
        self.browser.shows("#facts", self.gateway.status()["version"])
        eventually(lambda: len(self.rows("Devices")) == 2, "row for each device")
        eventually(lambda: self.row("Devices", "signal")[1] == "measuring", "state")
        self.assertEqual(self.row("Devices", "signal")[3], "50 ms")
        eventually(lambda: "read error" in self.row("Devices", "broken")[0], "reason of a failure")
        eventually(lambda: self.row("Alarms", "signal/counter"), "alarm")
        self.assertEqual(self.row("Alarms", "signal/counter")[1], "high")
        events = json.loads(self.gateway.ask("/events"))["events"]
        eventually(lambda: len(self.rows("Events")) >= len(events) - 5, "events")
        self.assertIn("device failed", [row[2] for row in self.rows("Events")])
        figures = lambda: self.browser.run(  # noqa: E731
            "return Object.fromEntries([...document.querySelectorAll('.figures > div')].map(each => [...each.children].map(part => part.textContent)))")
        eventually(lambda: figures().get("Channels") == str(len(self.gateway.status()["channels"]["last"])), "number of channels")
        eventually(lambda: figures()["Active alarms"] == "1", "number of alarms")

    def test_a_device_is_stopped_and_started_by_clicking(self):
        row = self.device_row("signal")
        self.browser.click(f"{row} button[aria-label='Stop signal']")
        self.browser.shows("#confirm-text", "3 channels")
        self.browser.click("#confirm button[value=no]")
        self.assertEqual(self.gateway.device("signal")["state"], "measuring")
        self.browser.click(f"{row} button[aria-label='Stop signal']")
        self.confirm()
        eventually(lambda: self.gateway.device("signal")["state"] == "idle", "stopped device")
        self.browser.shows(cell(row, "State"), "idle")

        # The ledger of a device that is not read does not change, so it can be compared.
        self.go("#/ledger")
        def is_shown():
            ledger = self.gateway.status()["ledger"]["devices"]["signal"]
            numbers = [ledger["sampled"], ledger["published"], sum(ledger["dropped"].values()), ledger["filtered"], ledger["queued"]]
            shown = self.row("Ledger", "signal")
            return shown and [int(text.replace(",", "")) for text in shown[1:6]] == numbers and shown[6] == "adds up"
        eventually(is_shown, "ledger that adds up")

        self.go("#/overview")
        self.browser.click(f"{row} button[aria-label='Start signal']")
        self.confirm()
        eventually(lambda: self.gateway.device("signal")["state"] == "measuring", "started device")

    def test_a_chart_shows_the_samples_of_a_channel(self):
        self.go("#/channels?q=signal&c=signal/sine")
        points = lambda: self.browser.run(  # noqa: E731
            "const s = document.querySelector('.chart canvas').chart.series[0]; return s ? s.seq.map((seq, i) => [seq, s.value[i], s.time[i]]) : []")
        eventually(lambda: len(points()) > 20, "points")
        newest = points()[-1][0]
        eventually(lambda: points()[-1][0] > newest + 20, "newer points of the stream")
        known = {each["seq"]: each["value"] for each in json.loads(self.gateway.ask("/samples/signal/sine?limit=10000"))["samples"]}
        compared = [(known[seq], value) for seq, value, _ in points() if seq in known]
        self.assertGreater(len(compared), 20)
        self.assertEqual([each for each in compared if each[0] != each[1]], [])
        seqs = [seq for seq, _, _ in points() if seq is not None]
        self.assertEqual(seqs, list(range(seqs[0], seqs[-1] + 1)), "history and stream are joined without a gap")

        saved = self.saved("#chart-csv")
        rows = list(csv.DictReader(io.StringIO(saved)))
        self.assertGreater(len(rows), 20)
        for row in rows:
            if int(row["seq"] or 0) in known:
                self.assertEqual((row["topic"], float(row["value"])), ("signal/sine", known[int(row["seq"])]))

    def test_a_long_range_shows_aggregates_if_the_gateway_has_them(self):
        self.go("#/channels?c=signal/counter&range=3600")
        parameters = json.loads(self.gateway.ask("/openapi.json"))["paths"]["/samples/{device}/{channel}"]["get"]["parameters"]
        has_aggregates = any(each["name"] == "aggregate" for each in parameters)
        self.browser.shows("#chart-source", "The line is the mean of each" if has_aggregates else "The oldest available sample is of")
        series = self.browser.run("const {interval, time, value, low, high} = document.querySelector('.chart canvas').chart.series[0];"
                                  "return {interval, time, value, low, high}")
        self.assertGreater(len(series["value"]), 0)
        if has_aggregates:
            self.assertEqual([each for each in zip(series["low"], series["value"], series["high"]) if not each[0] <= each[1] <= each[2]], [])

    def saved(self, button):
        """Clicks at a button that saves a file and returns the text of the file."""
        self.browser.run("URL.createObjectURL = (blob) => { window.savedFile = blob.text(); return '#'; };"
                         "HTMLAnchorElement.prototype.click = () => {};")
        self.browser.click(button)
        return self.browser.run("return window.savedFile")

    def test_channels_are_searched_and_selected_in_the_address(self):
        self.go("#/channels")
        eventually(lambda: self.row("Channels", "") and len(self.rows("Channels")) >= 4, "channels")
        self.browser.type("#search", "signal cou")
        eventually(lambda: [row[1] for row in self.rows("Channels")] == ["signal/counter", "signal/counter.alarm"], "matching channels")
        value = lambda: int(self.rows("Channels")[0][2].split()[0])  # noqa: E731
        before = value()
        eventually(lambda: value() > before, "newer value")
        self.browser.click("tr[data-topic='signal/counter'] input")
        address = eventually(lambda: (url := self.browser.run("return location.href")) if "c=signal" in self.browser.run("return location.href") else None)
        self.browser.open("about:blank")
        self.browser.open(address)
        self.browser.shows("table[aria-label='Selected channels']", "signal/counter")
        self.assertEqual(self.browser.run("return document.querySelector('#search').value"), "signal cou")
        self.assertIn("signal/counter", self.saved("#table-csv"))

    def test_a_gap_after_an_overflow_is_visible(self):
        gateway = Gateway(BURSTS)
        self.addCleanup(gateway.close)
        eventually(lambda: gateway.status()["ledger"]["devices"]["bursty"]["dropped"]["queue_overflow"], "overflow")
        self.open(gateway, "#/channels?c=bursty/counter")
        self.browser.find("table[aria-label='Selected channels'] .lost")
        # Gaps are hatched in the color of losses, which nothing else in this chart has.
        eventually(lambda: self.browser.run(
            "const canvas = document.querySelector('.chart canvas');"
            "const d = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;"
            "let red = 0; for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 60 && d[i] > 120 && d[i + 1] < 80 && d[i + 2] < 90) ++red;"
            "return red") > 50, "hatched range")
        self.go("#/ledger")
        eventually(lambda: self.row("Losses", "bursty/counter"), "loss")
        loss = self.row("Losses", "bursty/counter")
        self.assertEqual(loss[3], "the queue was full")
        self.assertRegex(loss[4], r"\d\d:\d\d:\d\d")

    def test_delivery_shows_a_subscriber_and_the_log(self):
        import zmq
        with zmq.Context() as context, context.socket(zmq.SUB) as socket:
            socket.connect(self.gateway.endpoints[0])
            socket.subscribe("signal/")
            socket.recv_multipart()
            self.go("#/delivery")
            eventually(lambda: self.rows("Subscribers"), "subscriber")
            peer = self.gateway.status()["transport"]["subscribers"][0]["peer"]
            self.assertEqual(self.rows("Subscribers")[0][:3], [peer, "json", "signal/"])
            matched, sent, dropped, pending = (int(text.replace(",", "")) for text in self.rows("Subscribers")[0][3:7])
            self.assertEqual(matched, sent + dropped + pending)
            socket.close(0)
        log = json.loads(self.gateway.ask("/log"))["log"]
        self.browser.shows("main", log["path"])
        self.browser.shows("main", "No uplink is configured." if not self.has_uplinks() else "")

    def has_uplinks(self):
        return bool(self.gateway.status().get("uplinks"))

    def test_settings_are_checked_and_applied(self):
        self.go("#/settings")
        field = "#setting-gateway-queue_size"
        self.browser.find(field)
        value = lambda selector: self.browser.run("return document.querySelector(arguments[0]).value", selector)  # noqa: E731
        config = json.loads(self.gateway.ask("/config"))
        self.assertEqual(value(field), str(config["gateway"]["queue_size"]))
        self.browser.shows(f"tr:has({field})", pathlib.Path(self.gateway.config).name + ":")
        self.browser.shows("tr:has(#setting-gateway-log_level)", "default")

        self.browser.type(field, "99999999")
        self.browser.click("#settings-check")
        self.browser.shows("#setting-gateway-queue_size-problem", "must be")
        self.assertEqual(self.browser.run("return document.querySelectorAll('[aria-invalid=true]').length"), 1)
        self.assertEqual(self.browser.run("return document.activeElement.id"), field[1:])
        self.assertTrue(self.browser.run("return document.querySelector('#settings-apply').disabled"))

        self.browser.type(field, "1001")
        self.browser.click("#settings-check")
        eventually(lambda: self.rows("Changes") == [["gateway.queue_size", "1000", "1001", "running gateway"]], "planned change")
        self.assertEqual(self.gateway.status()["queue"]["capacity"], 1000)
        self.browser.click("#settings-apply")
        eventually(lambda: self.gateway.status()["queue"]["capacity"] == 1001, "applied change")
        self.browser.shows(f"tr:has({field})", "changed at run time")
        self.gateway.ask("/-/reload", "POST")

    def test_it_reconnects_after_a_restart_and_says_when_data_is_old(self):
        port = free_port()
        environment = {**os.environ, "TELEGATE_REST_LISTEN": f"{OWN_ADDRESS}:{port}"}
        first = Gateway('[device "signal"]\ndriver = simulated\n', env=environment)
        self.addCleanup(first.close)
        self.open(first, "#/channels?c=signal/counter")
        self.browser.shows("#health", "Ready")
        first.stop()
        self.browser.shows("#notices", "Old data")
        second = Gateway('[device "signal"]\ndriver = simulated\n', env=environment)
        self.addCleanup(second.close)
        self.browser.shows("#notices", "restarted")
        eventually(lambda: "Old data" not in self.browser.text("#notices"), "new data")
        epoch = second.status()["epoch"]
        eventually(lambda: self.browser.run("return document.querySelector('.chart canvas').chart.series[0].epoch") == epoch, "samples of the new run")

    def test_a_hidden_page_costs_nothing(self):
        self.go("#/channels")
        eventually(lambda: self.gateway.metric("telegate_rest_streams") == 1, "stream")
        self.browser.run("Object.defineProperty(document, 'hidden', {value: true, configurable: true});"
                         "document.dispatchEvent(new Event('visibilitychange'))")
        eventually(lambda: self.gateway.metric("telegate_rest_streams") == 0, "end of the stream")
        self.browser.requests()
        before = self.gateway.status()["uptime_s"]
        eventually(lambda: self.gateway.status()["uptime_s"] > before + 3, "time")
        self.assertEqual(self.browser.requests(), [])
        self.browser.run("Object.defineProperty(document, 'hidden', {value: false, configurable: true});"
                         "document.dispatchEvent(new Event('visibilitychange'))")
        eventually(lambda: self.gateway.metric("telegate_rest_streams") == 1, "stream")

    def test_a_token_is_requested_and_never_in_an_address(self):
        settings = '[device "signal"]\ndriver = simulated\n'
        folder = self.scratch_folder()
        tokens = os.path.join(folder, "tokens")
        with open(tokens, "w") as file:
            file.write(TOKENS)
        os.chmod(tokens, 0o600)
        gateway = Gateway(settings, env={**os.environ, "TELEGATE_REST_TOKENS_FILE": tokens})
        self.addCleanup(gateway.close)
        self.open(gateway, "#/channels")
        self.browser.find("#login[open]")
        self.browser.type("#token", "not-a-valid-token-at-all")
        self.browser.click("#login-form button")
        self.browser.shows("#login-problem", "unknown token")

        self.browser.type("#token", TOKENS.split()[2])
        self.browser.click("#login-form button")
        self.browser.shows("#who", "watcher (reader)")
        eventually(lambda: self.row("Channels", "") and "good" in self.rows("Channels")[0][3], "values of the stream")
        self.go("#/overview")
        eventually(lambda: self.rows("Devices"), "devices")
        self.assertEqual(self.browser.find_all("main button[aria-label^='Stop']"), [])

        self.open(gateway)
        self.browser.find("#login[open]")
        self.browser.type("#token", TOKENS.split()[5])
        self.browser.click("#login-form button")
        self.browser.click("button[aria-label='Stop signal']")
        self.confirm()
        self.browser.shows(cell(self.device_row("signal"), "State"), "idle")
        used = self.browser.requests() + [self.browser.run("return location.href + document.cookie + JSON.stringify({...localStorage, ...sessionStorage})")]
        self.assertEqual([each for each in used if TOKENS.split()[5] in each or TOKENS.split()[2] in each], [])

    def scratch_folder(self):
        folder = tempfile.mkdtemp(prefix="telegate-test-")
        self.addCleanup(shutil.rmtree, folder)
        return folder

    def test_a_page_of_another_origin_can_do_nothing(self):
        class Page(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(b"<!DOCTYPE html><title>other</title>")

            def log_message(self, *arguments):
                pass
        server = http.server.ThreadingHTTPServer((OWN_ADDRESS, 0), Page)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.browser.open(f"http://{OWN_ADDRESS}:{server.server_address[1]}/")
        attempt = ("return fetch(arguments[0] + arguments[1], {method: arguments[2], mode: arguments[3]})"
                   ".then(response => response.type, error => 'refused')")
        for path, method, mode, seen in (("/devices/signal/stop", "POST", "no-cors", "opaque"), ("/devices/signal/stop", "POST", "cors", "refused"),
                                         ("/status", "GET", "cors", "refused"), ("/web/app.js", "GET", "no-cors", "refused")):
            self.assertEqual(self.browser.run(attempt, self.gateway.rest, path, method, mode), seen, path)
        self.assertEqual(self.gateway.device("signal")["state"], "measuring")
        frame = ("return new Promise(done => { const f = document.createElement('iframe'); f.onload = () => {"
                 "try { done(f.contentDocument?.title ?? 'blocked'); } catch { done('blocked'); } }; f.src = arguments[0]; document.body.append(f); })")
        self.assertEqual(self.browser.run(frame, self.gateway.rest + "/"), "blocked")
        self.browser.console()  # the refusals above
        request = urllib.request.Request(self.gateway.rest + "/devices/signal/stop", method="POST", headers={"Origin": "http://192.0.2.1"})
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)
        self.assertEqual(refused.exception.code, 403)

    def test_every_request_goes_to_the_gateway(self):
        for view in VIEWS:
            self.go(f"#/{view}?c=signal/sine" if view == "channels" else f"#/{view}")
            eventually(lambda: self.browser.run("return document.querySelector('main').childElementCount"), view)
        eventually(lambda: self.browser.find_all("#setting-gateway-queue_size"), "settings")
        used = self.browser.requests()
        self.assertIn(self.gateway.rest + "/web/app.js", used)
        others = [url for url in used if url.startswith(("http", "ws", "ftp")) and not url.startswith(self.gateway.rest + "/")]
        self.assertEqual(others, [])

    @unittest.skipUnless(AXE.exists(), "no axe-core (tools/fetch_checkers.sh installs it)")
    def test_axe_finds_nothing(self):
        axe = AXE.read_text()
        found = []
        for scheme in ("light", "dark"):
            self.browser.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            for view in VIEWS:
                self.go(f"#/{view}?c=signal/sine" if view == "channels" else f"#/{view}")
                eventually(lambda: self.browser.find_all("main section"), view)
                self.browser.run(axe + "; window.axe = axe;")
                for fault in self.browser.run("return axe.run().then(result => result.violations)"):
                    nodes = [node["html"][:200] + " " + node.get("failureSummary", "") for node in fault["nodes"][:3]]
                    found.append(f"{scheme} {view}: {fault['id']}: {fault['help']} {nodes}")
        self.browser.devtools("Emulation.setEmulatedMedia", features=[])
        self.assertEqual(found, [])


def free_port():
    with socket.socket() as probe:
        probe.bind((OWN_ADDRESS, 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    unittest.main(verbosity=2)
