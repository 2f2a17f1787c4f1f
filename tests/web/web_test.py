"""The gateway's own page in Chromium.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP and the folder of axe-core in TELEGATE_CHECKERS.
"""

import csv
import http.server
import io
import os
import pathlib
import shutil
import signal
import socket
import sys
import tempfile
import threading
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "interop"))
from browser import Browser, skip_without_browser  # noqa: E402

skip_without_browser()
from device_peers import Gateway  # noqa: E402
from gateway_process import OWN_ADDRESS, eventually  # noqa: E402

try:
    from nats_fixture import STREAM, NatsServer
except SystemExit:  # it prints what is missing
    NatsServer = None

AXE = pathlib.Path(os.environ.get("TELEGATE_CHECKERS", "")) / "node/node_modules/axe-core/axe.min.js"
VIEWS = ("overview", "channels", "delivery", "ledger", "settings")
SETTINGS = """[gateway]
name = plant-7
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
[log]
path = {folder}/log
sync_interval = 20ms
[device "bursty"]
driver = simulated
waveforms = counter
interval_ms = 50
burst_probability = 0.05
burst_samples = 100
"""
UPLINK = """[gateway]
state_file = {folder}/state.json
[log]
path = {folder}/log
sync_interval = 20ms
[device "signal"]
driver = simulated
waveforms = sine, counter
interval_ms = 20
[uplink "cloud"]
url = %s
rate_max = 120
"""
LOGGED = """[gateway]
state_file = {folder}/state.json
[log]
path = {folder}/log
[device "signal"]
driver = simulated
waveforms = counter
interval_ms = 20
"""
EXACT = """[device "meter"]
driver = exec
command = printf '{"energy":7794262.28,"count":9007199254740993,"third":0.1,"serial":"0001234567890123456"}'
format = json
interval_ms = 100
"""
TOKENS = "reader watcher 5p0zWb8Qy3kE1nTqAAAA\nadmin operator y2m1lZc0f7XhUo9vR4sJ\n"


def seconds(text):
    """Returns the duration that a text of the page shows: "850 ms", "4.5 s", "3 min 20 s"."""
    units = {"µs": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400}
    words = text.split()
    return sum(float(number) * units[unit] for number, unit in zip(words[::2], words[1::2]))


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
        events = self.gateway.json("/events")["events"]
        eventually(lambda: len(self.rows("Events")) >= len(events) - 5, "events")
        eventually(lambda: "device failed" in [row[2] for row in self.rows("Events")], "event of a failure")
        figures = lambda: self.browser.run(  # noqa: E731
            "return Object.fromEntries([...document.querySelectorAll('.figures > div')].map(each => [...each.children].map(part => part.textContent)))")
        eventually(lambda: figures().get("Channels") == str(len(self.gateway.status()["channels"]["last"])), "number of channels")
        eventually(lambda: figures()["Active alarms"] == "1", "number of alarms")

    def test_the_title_has_the_view_and_the_name_of_the_gateway(self):
        title = lambda: self.browser.run("return document.title")  # noqa: E731
        eventually(lambda: title() == "Overview – plant-7 – Telegate", "title")
        self.go("#/ledger")
        eventually(lambda: title() == "Ledger and losses – plant-7 – Telegate", "title of another view")

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
        known = {each["seq"]: each["value"] for each in self.gateway.json("/samples/signal/sine?limit=10000")["samples"]}
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

    def test_samples_are_requested_again_if_the_gateway_is_busy(self):
        self.go("#/overview")
        self.browser.run("const send = window.fetch; let refusals = 2; window.fetch = (path, options) => "
                         "path.startsWith('/samples/signal/sine') && refusals-- > 0 "
                         "? Promise.resolve(new Response('{}', { status: 503 })) : send(path, options)")
        samples = eventually(lambda: self.gateway.json("/samples/signal/sine?limit=100")["samples"], "samples")
        self.go(f"#/channels?c=signal/sine&from={samples[0]['time']}&to={samples[-1]['time']}")
        eventually(lambda: self.browser.run("return document.querySelector('.chart canvas').chart.series[0]?.seq.length"), "points")

    def test_a_long_range_shows_aggregates_if_the_gateway_has_them(self):
        self.go("#/channels?c=signal/counter&range=3600")
        parameters = self.gateway.json("/openapi.json")["paths"]["/samples/{device}/{channel}"]["get"]["parameters"]
        has_aggregates = any(each["name"] == "aggregate" for each in parameters)
        self.browser.shows("#chart-source", "The line is the mean of each" if has_aggregates else "The oldest available sample is of")
        series = self.browser.run("const {interval, time, value, low, high} = document.querySelector('.chart canvas').chart.series[0];"
                                  "return {interval, time, value, low, high}")
        self.assertGreater(len(series["value"]), 0)
        if has_aggregates:
            self.assertEqual([each for each in zip(series["low"], series["value"], series["high"]) if not each[0] <= each[1] <= each[2]], [])

    def test_values_are_shown_exactly_and_only_means_are_rounded(self):
        with_exact = Gateway(EXACT)
        self.addCleanup(with_exact.close)
        self.open(with_exact, "#/channels?" + "&".join(f"c=meter/{name}" for name in ("count", "energy", "third")))
        shown = {"meter/energy": "7794262.28", "meter/count": "9007199254740993", "meter/third": "0.1"}
        table = shown | {"meter/serial": "0001234567890123456"}
        eventually(lambda: table.items() <= {row[1]: row[2] for row in self.rows("Channels")}.items(), "exact values in the table")
        legend = lambda: {row[0]: row[1:5] for row in self.rows("Selected channels")}  # noqa: E731
        expected = {topic: [text] * 3 for topic, text in shown.items()}
        eventually(lambda: {topic: texts[:3] for topic, texts in legend().items()} == expected, "exact values in the legend")
        self.assertEqual([legend()[topic][3] for topic in ("meter/energy", "meter/count")], ["≈ 7794260", "≈ 9007200000000000"])
        self.assertIn(",9007199254740993,", self.saved("#chart-csv"))
        self.open(with_exact, "#/channels?c=meter/count&range=3600")
        eventually(lambda: legend()["meter/count"][1:3] == ["≈ 9007199254740992"] * 2, "marked minimum and maximum of intervals")

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
            eventually(lambda: self.rows("Subscribers") and self.rows("Subscribers")[0][2], "subscription")
            peer = self.gateway.status()["transport"]["subscribers"][0]["peer"]
            self.assertEqual(self.rows("Subscribers")[0][:3], [peer, "json", "signal/"])
            matched, sent, dropped, pending = (int(text.replace(",", "")) for text in self.rows("Subscribers")[0][3:7])
            self.assertEqual(matched, sent + dropped + pending)
            socket.close(0)
        log = self.gateway.json("/log")["log"]
        self.browser.shows("main", log["path"])
        self.browser.shows("main", "No uplink is configured.")

    def pairs(self):
        """Returns the figures of the log."""
        return dict(self.browser.run("return [...document.querySelectorAll('.pairs > div')].map(each => [...each.children].map(part => part.textContent))"))

    def formatted(self, function, *arguments):
        """Returns a value in the form in which the page shows it."""
        return self.browser.run("const [name, ...given] = arguments; return import('/web/dom.js').then(dom => dom[name](...given))", function, *arguments)

    def test_the_log_is_shown_as_rest_reports_it(self):
        gateway = Gateway(BURSTS)
        self.addCleanup(gateway.close)
        eventually(lambda: gateway.status()["log"]["samples"] > 20, "samples in the log")
        gateway.text("/stop", "POST")  # the numbers do not change after this, so they can be compared
        sampled = gateway.status()["ledger"]["total"]
        eventually(lambda: gateway.status()["queue"]["depth"] == 0 and gateway.status()["log"]["pending"] == 0, "the log")
        self.open(gateway, "#/delivery")

        def is_shown():
            log, shown = gateway.json("/log")["log"], self.pairs()
            written = next((text for name, text in shown.items() if name.startswith("Written since the start") or name.startswith("Written today")), None)
            segments = self.formatted("plural", log["segments"], "segment")
            return (shown.get("Used"), written, shown.get("Samples written"), shown.get("Pending"), shown.get("Lost"), shown.get("Oldest sample")) == (
                f"{self.formatted('bytes', log['bytes'])} in {segments}", self.formatted("bytes", log["day_bytes"]), self.formatted("count", log["samples"]), "0", "0",
                self.formatted("timeText", log["oldest_time"]))
        eventually(is_shown, "figures of the log")
        log = gateway.status()["log"]
        self.assertEqual((log["day_bytes"], sampled["sampled"] > 20), (log["written_bytes"], True))

    @unittest.skipUnless(NatsServer, "no nats-server (Debian package nats-server)")
    def test_an_uplink_is_shown_as_rest_reports_it_and_is_paused_and_resumed_by_clicking(self):
        folder = self.scratch_folder()
        server = NatsServer(folder)
        self.addCleanup(server.kill)
        gateway = Gateway(UPLINK % server.url, folder)
        self.addCleanup(gateway.close)
        uplink = lambda: gateway.json("/uplinks")["uplinks"][0]  # noqa: E731
        titles = ("name", "state", "behind", "lag", "backlog", "acknowledged", "missing", "catch up", "error")
        row = lambda: dict(zip(titles, self.row("Uplinks", "cloud") or [""] * len(titles)))  # noqa: E731
        self.open(gateway, "#/delivery")

        # No server: the row shows a lag in samples and time, and a current error.
        eventually(lambda: uplink()["lag_s"] > 8 and "cannot connect" in (uplink()["error"] or ""), "a lag")
        eventually(lambda: row()["error"] == uplink()["error"], "error")
        self.browser.find("table[aria-label=Uplinks] td.lost[data-title='Last error']")
        eventually(lambda: (row()["state"], row()["catch up"]) == (uplink()["state"], "never"), "state")
        eventually(lambda: row()["lag"] == self.formatted("count", uplink()["lag_samples"]), "samples behind")
        eventually(lambda: uplink()["lag_s"] - 10 < seconds(row()["behind"]) <= uplink()["lag_s"] + 0.1, "lag in time")

        # A server: the lag decreases slowly, because the rate is limited. The error is an earlier one.
        server.start()
        server.add_stream()
        eventually(lambda: row()["catch up"] not in ("never", "–") and row()["catch up"] == self.formatted("duration", uplink()["catch_up_s"] or 0), "estimate")
        eventually(lambda: row()["state"] == "sending" and uplink()["connected"], "connection")
        gateway.text("/stop", "POST")
        eventually(lambda: uplink()["lag_samples"] == 0 and uplink()["samples"]["in_flight"] == 0, "delivery")

        def is_shown():
            now = uplink()
            return (row()["behind"], row()["lag"], row()["acknowledged"], row()["missing"], row()["catch up"]) == (
                "0 s", "0", self.formatted("count", now["samples"]["acknowledged"]), self.formatted("count", now["samples"]["gaps"]), "–")
        eventually(is_shown, "figures")
        now = uplink()
        self.assertGreater(now["samples"]["acknowledged"], 20)
        self.assertTrue(row()["error"].endswith(": " + now["last_error"]), row())
        self.assertEqual(self.browser.find_all("table[aria-label=Uplinks] td.lost"), [])

        # Commands.
        self.browser.click("button[aria-label='Pause cloud']")
        self.browser.click("#confirm button[value=no]")
        self.assertFalse(uplink()["paused"])
        self.browser.click("button[aria-label='Pause cloud']")
        self.confirm()
        eventually(lambda: uplink()["paused"], "paused uplink")
        eventually(lambda: row()["state"] == "paused", "state")
        gateway.text("/start", "POST")
        eventually(lambda: (row()["lag"] or "0") != "0", "a lag while it is paused")
        self.browser.click("button[aria-label='Resume cloud']")
        self.confirm()
        eventually(lambda: not uplink()["paused"] and uplink()["samples"]["acknowledged"] > now["samples"]["acknowledged"], "further deliveries")
        eventually(lambda: row()["state"] == "sending", "state")

        # The ledger shows what an uplink has lost.
        gateway.text("/stop", "POST")
        self.go("#/ledger")
        eventually(lambda: self.rows("Ledger"), "ledger")
        self.assertEqual(bool(self.row("Losses", "uplink cloud")), bool(uplink()["samples"]["gaps"]))

    @unittest.skipUnless(NatsServer, "no nats-server (Debian package nats-server)")
    def test_samples_that_a_back_end_refuses_are_losses_with_their_reason(self):
        folder = self.scratch_folder()
        server = NatsServer(folder)
        self.addCleanup(server.kill)
        server.start()
        server.add_stream()
        gateway = Gateway(UPLINK % server.url + "refusals_max = 1\n", folder)
        self.addCleanup(gateway.close)
        uplink = lambda: gateway.json("/uplinks")["uplinks"][0]  # noqa: E731
        eventually(lambda: uplink()["samples"]["acknowledged"] > 0, "delivery")
        gateway.text("/stop", "POST")
        reply = server.request("STREAM.UPDATE.TELEGATE", {**STREAM, "max_msg_size": 200})
        self.assertNotIn("error", reply)
        gateway.text("/start", "POST")
        eventually(lambda: uplink()["quarantine"]["samples"] > 0, "a refused sample")
        gateway.text("/uplinks/cloud/pause", "POST")
        self.open(gateway, "#/ledger")

        def is_shown():
            shown = [row for row in self.rows("Losses") if row[0] == "uplink cloud" and row[2] == "samples in quarantine"]
            return [row[1] for row in shown] == [self.formatted("count", uplink()["quarantine"]["samples"])] and \
                shown[0][3].startswith("refused by the back end: ")
        eventually(is_shown, "refused samples")

    def test_earlier_runs_are_shown_as_rest_reports_them(self):
        folder = self.scratch_folder()
        gateway = Gateway(LOGGED, folder)
        self.addCleanup(gateway.close)
        eventually(lambda: gateway.status()["log"]["samples"] > 0, "samples")
        gateway.stop()
        gateway = Gateway(LOGGED, folder)
        self.addCleanup(gateway.close)
        eventually(lambda: gateway.status()["log"]["samples"] > 0, "samples")
        gateway.stop(signal.SIGKILL)
        gateway = Gateway(LOGGED, folder)
        self.addCleanup(gateway.close)
        self.open(gateway, "#/ledger")
        eventually(lambda: len(self.rows("Earlier runs")) == 2, "earlier runs")
        by_end = {row[1]: row for row in self.rows("Earlier runs")}
        for run in gateway.status()["previous_runs"]:
            row = by_end["stopped cleanly" if run["stopped_cleanly"] else "crashed or lost power"]
            self.assertEqual(row[0], self.formatted("timeText", run["epoch"]))
            ledger = run["ledger"] and [self.formatted("count", run["ledger"][name]) for name in ("sampled", "published")]
            self.assertEqual(row[4:6], ledger or ["–", "–"])
            self.assertEqual(row[7], self.formatted("count", run["log"]["lost"]) if run["log"] else "–")
        self.assertEqual(len(by_end), 2)

    def test_missing_samples_of_the_log_are_found_with_their_reasons_and_times(self):
        gateway = Gateway(BURSTS)
        self.addCleanup(gateway.close)
        eventually(lambda: gateway.status()["ledger"]["devices"]["bursty"]["dropped"]["queue_overflow"], "overflow")
        eventually(lambda: gateway.json("/samples/bursty/counter?since=1h&limit=10000")["gaps"], "gap in the log")
        gateway.text("/stop", "POST")
        eventually(lambda: gateway.status()["queue"]["depth"] == 0 and gateway.status()["log"]["pending"] == 0, "the log")
        reply = gateway.json("/samples/bursty/counter?since=1h&limit=10000")
        self.open(gateway, "#/ledger")
        self.browser.click("#missing-search")
        self.browser.shows("#missing-status", "missing in")
        by_time = sorted(((gap["last_seq"] - gap["first_seq"] + 1, max(each["time"] for each in reply["samples"] if each["seq"] < gap["first_seq"]))
                          for gap in reply["gaps"] if gap["first_seq"] > reply["samples"][0]["seq"]), key=lambda each: each[1], reverse=True)
        expected = [["bursty/counter", self.formatted("count", number), "the queue was full", self.formatted("timeText", time)] for number, time in by_time]
        self.assertEqual([row[:4] for row in self.rows("Missing samples")], expected)
        self.assertGreater(len(expected), 0)
        red = self.browser.run("return getComputedStyle(document.querySelector(\"table[aria-label='Missing samples'] td.lost\")).color")
        self.assertEqual(red, self.browser.run("const e = document.createElement('span'); e.className = 'lost'; document.body.append(e); const c = getComputedStyle(e).color; e.remove(); return c"))

        self.browser.click("table[aria-label='Missing samples'] a")
        self.browser.click("table[aria-label='Selected channels'] td.lost a")
        self.browser.shows("#missing-status", "missing in")
        self.assertEqual(self.rows("Missing samples")[0][2], "the queue was full")

    def test_settings_are_checked_and_applied(self):
        self.go("#/settings?q=gateway")
        field = "#setting-gateway-queue_size"
        self.browser.find(field)
        value = lambda selector: self.browser.run("return document.querySelector(arguments[0]).value", selector)  # noqa: E731
        config = self.gateway.json("/config")
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
        self.gateway.text("/-/reload", "POST")

    def test_a_device_is_added_and_removed_in_the_settings(self):
        names = lambda: [each["name"] for each in self.gateway.status()["sampler"]["devices"]]  # noqa: E731
        self.addCleanup(self.gateway.text, "/-/reload", "POST")
        self.go("#/settings")
        self.browser.type("#add-name", "signal")
        self.browser.click("#add-section")
        self.browser.shows("#add-problem", "exists already")
        self.assertIn("command", self.browser.run("return [...document.querySelectorAll('#add-driver option:disabled')].map(each => each.textContent).join()"))
        self.browser.type("#add-name", "New Device")
        self.browser.run("const input = document.querySelector('#add-driver'); input.value = 'simulated'")
        self.browser.click("#add-section")
        self.browser.click("#settings-check")
        self.browser.shows(".change-bar [role=status]", "must be")
        self.browser.click("button[aria-label='Remove device New Device']")

        self.browser.type("#add-name", "extra")
        self.browser.click("#add-section")
        self.browser.type("#setting-device-extra-interval_ms", "250")
        self.browser.click("#settings-check")
        eventually(lambda: ["device.extra", "–", "added", "running gateway"] in self.rows("Changes"), "planned section")
        self.assertNotIn("extra", names())
        self.browser.click("#settings-apply")
        eventually(lambda: "extra" in names(), "added device")
        self.assertEqual(self.gateway.device("extra")["interval_ms"], 250)

        section = "details[data-section='device extra']"
        self.browser.find(f"{section}[open]")
        self.browser.click("button[aria-label='Remove device extra']")
        self.browser.click("#settings-check")
        eventually(lambda: ["device.extra", "–", "removed", "running gateway"] in self.rows("Changes"), "planned removal")
        self.browser.click("#settings-apply")
        eventually(lambda: "extra" not in names(), "removed device")
        eventually(lambda: not self.browser.find_all(section), "sections without it")

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
        for path, method, mode in (("/devices/signal/stop", "POST", "no-cors"), ("/devices/signal/stop", "POST", "cors"),
                                   ("/status", "GET", "cors"), ("/web/app.js", "GET", "no-cors")):
            self.assertEqual(self.browser.run(attempt, self.gateway.rest, path, method, mode), "refused", path)
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
        eventually(lambda: self.browser.find_all(".sections summary"), "settings")
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
