"""gateway_app delivers its durable log to a real nats-server, while both are stopped, killed and misconfigured.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP.
"""

import itertools
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import urllib.error
import urllib.request

from device_peers import APP, DeviceTest, main, time_ns
from gateway_process import DEADLINE_S
from nats_fixture import STREAM, Certificates, NatsServer, Nkey, Received
from patient_http import answer_to

SETTINGS = """[gateway]
state_file = {folder}/state.json
queue_size = 65536
[log]
path = {folder}/log
sync_interval = 20ms
[device "sim"]
driver = simulated
waveforms = sine, counter
interval_ms = 1
[uplink "cloud"]
url = %s
lag_alarm = 1s
"""


class Uplink(DeviceTest):
    def setUp(self):
        self.folder = self.scratch()
        self.server = NatsServer(self.folder)
        self.addCleanup(self.server.kill)

    def start_server(self):
        self.server.start()
        self.server.add_stream()

    def start_gateway(self, more=""):
        return self.start(SETTINGS % self.server.url + more, self.folder)

    def uplink(self, gateway):
        uplinks = gateway.json("/uplinks")["uplinks"]
        self.assertEqual(1, len(uplinks))
        self.assertTrue(uplinks[0]["samples"]["balanced"])
        return uplinks[0]

    def acknowledged(self, gateway, count):
        """Waits until this many samples are acknowledged."""
        self.eventually(lambda: self.uplink(gateway)["samples"]["acknowledged"] >= count, f"{count} samples",
                        lambda: self.uplink(gateway))

    def is_ready(self, gateway):
        try:
            return "ok" in gateway.text("/readyz")
        except urllib.error.HTTPError as refused:
            refused.close()
            return False

    def fails(self, gateway, text):
        self.eventually(lambda: text in (self.uplink(gateway)["error"] or ""), text, lambda: self.uplink(gateway))

    def stop_sampling_and_deliver(self, gateway):
        gateway.text("/stop", "POST")
        sampled = gateway.status()["ledger"]["total"]["sampled"]

        def is_logged():
            log = gateway.status()["log"]
            return log["samples"] >= sampled and log["synced_position"] == log["next_position"]

        self.eventually(is_logged, "the log")
        end = gateway.status()["log"]["next_position"]
        self.eventually(lambda: self.uplink(gateway)["position"] == end, "delivery of everything",
                        lambda: self.uplink(gateway))
        return sampled

    def check_stream(self):
        received = Received(self.server.messages())
        self.assertEqual({}, received.unexplained())
        self.assertEqual(0, received.inversions)
        return received

    def test_every_sample_is_in_the_stream_once(self):
        self.start_server()
        gateway = self.start_gateway()
        self.acknowledged(gateway, 500)
        sampled = self.stop_sampling_and_deliver(gateway)
        received = self.check_stream()
        self.assertEqual(0, received.duplicates)
        self.assertEqual({}, received.missing)
        self.assertEqual(sampled, sum(map(len, received.samples.values())))
        uplink = self.uplink(gateway)
        self.assertEqual((True, "sending", None, sampled),
                         (uplink["connected"], uplink["state"], uplink["error"], uplink["samples"]["acknowledged"]))
        self.assertEqual(sampled, gateway.metric('telegate_uplink_samples_acknowledged_total{uplink="cloud"}'))
        headers, payload = self.server.messages()[0]
        self.assertEqual(str(gateway.status()["epoch"]), headers["Telegate-Epoch"])
        self.assertEqual("sim", json.loads(payload.splitlines()[0])["device"])

    def test_only_selected_topics_are_delivered(self):
        self.start_server()
        gateway = self.start_gateway("topics = sim/sine\n")
        self.acknowledged(gateway, 100)
        self.stop_sampling_and_deliver(gateway)
        self.assertEqual({"sim/sine"}, {topic for _, topic in self.check_stream().samples})

    def test_a_server_that_is_killed_again_and_again_misses_nothing(self):
        self.start_server()
        gateway = self.start_gateway()
        for _ in range(3):
            self.acknowledged(gateway, self.uplink(gateway)["samples"]["acknowledged"] + 200)
            self.server.kill()
            self.eventually(lambda: not self.uplink(gateway)["connected"], "the end of the connection")
            self.server.start()
        sampled = self.stop_sampling_and_deliver(gateway)
        received = self.check_stream()
        self.assertEqual(0, received.duplicates)
        self.assertEqual(sampled, sum(map(len, received.samples.values())))

    def test_a_gateway_that_is_killed_again_and_again_delivers_everything_that_it_logged(self):
        self.start_server()
        for _ in range(3):
            gateway = self.start_gateway()
            self.eventually(lambda: gateway.status()["log"]["samples"] > 100, "samples in the log")
            self.acknowledged(gateway, 100)
            gateway.stop(signal.SIGKILL)
        gateway = self.start_gateway()
        self.acknowledged(gateway, 200)
        self.stop_sampling_and_deliver(gateway)
        received = self.check_stream()
        self.assertEqual(0, received.duplicates)
        self.assertEqual(4, len({epoch for epoch, _ in received.samples}))

    def test_samples_from_before_a_server_existed_are_delivered(self):
        gateway = self.start_gateway()
        self.fails(gateway, "cannot connect")
        self.eventually(lambda: self.uplink(gateway)["lag_s"] > 1, "a lag")
        with self.assertRaises(urllib.error.HTTPError) as refused:
            gateway.text("/readyz")
        with refused.exception as answer:
            self.assertEqual(503, answer.code)
            self.assertIn("cloud is", answer.read().decode())
        self.start_server()
        self.acknowledged(gateway, 500)
        self.stop_sampling_and_deliver(gateway)
        self.eventually(lambda: self.is_ready(gateway), "a ready gateway")
        self.check_stream()

    def test_messages_without_a_stream_are_kept_until_there_is_one(self):
        self.server.start()
        gateway = self.start_gateway()
        self.fails(gateway, "no stream has the subject telegate.samples; create one: nats stream add TELEGATE")
        self.assertEqual(0, self.uplink(gateway)["messages"]["sent"])
        self.server.add_stream()
        self.acknowledged(gateway, 200)
        self.stop_sampling_and_deliver(gateway)
        self.check_stream()

    def test_a_full_stream_refuses_until_it_has_space(self):
        self.server.start()
        self.server.add_stream(max_msgs=2, discard="new")
        gateway = self.start_gateway()
        self.fails(gateway, "maximum messages exceeded")
        self.assertNotIn("error", self.server.request("STREAM.UPDATE.TELEGATE", {
            "name": "TELEGATE", "subjects": ["telegate.samples"], "storage": "file", "retention": "limits",
            "num_replicas": 1, "duplicate_window": 120_000_000_000, "max_msgs": -1, "discard": "new"}))
        self.acknowledged(gateway, 200)
        self.stop_sampling_and_deliver(gateway)
        self.assertEqual(0, self.check_stream().duplicates)

    def test_credentials_are_read_for_each_connection(self):
        self.server.configure('authorization { user: "telegate", password: "secret" }\n')
        self.server.credentials = {"user": "telegate", "pass": "secret"}
        self.start_server()
        path = os.path.join(self.folder, "credentials")
        with open(path, "w") as file:
            file.write("telegate wrong\n")
        gateway = self.start_gateway(f"credentials_file = {path}\n")
        self.fails(gateway, "Authorization Violation")
        with open(path, "w") as file:
            file.write("telegate secret\n")
        self.acknowledged(gateway, 100)

    def test_a_deleted_stream_is_used_again_after_it_is_created(self):
        self.start_server()
        gateway = self.start_gateway()
        self.acknowledged(gateway, 100)
        self.server.request("STREAM.DELETE.TELEGATE", {})
        self.fails(gateway, "no stream has")
        before = self.uplink(gateway)["samples"]["acknowledged"]
        self.server.add_stream()
        self.acknowledged(gateway, before + 200)

    def test_a_stream_that_is_not_suitable_is_named_with_the_command_that_changes_it(self):
        self.server.start()
        self.server.add_stream(duplicate_window=1_000_000_000)
        gateway = self.start_gateway()
        self.fails(gateway, "nats stream edit TELEGATE --dupe-window 10m")
        self.server.request("STREAM.DELETE.TELEGATE", {})
        self.server.add_stream(no_ack=True)
        self.fails(gateway, "nats stream edit TELEGATE --ack")
        self.server.request("STREAM.DELETE.TELEGATE", {})
        self.server.add_stream(max_msg_size=1_000)
        self.fails(gateway, "accepts messages of 1000 bytes")
        self.server.request("STREAM.DELETE.TELEGATE", {})
        self.server.add_stream(storage="memory")
        self.acknowledged(gateway, 200)
        self.stop_sampling_and_deliver(gateway)
        self.check_stream()

    def test_a_token_an_nkey_and_a_jwt_are_accepted(self):
        user, account, operator, system = Nkey("U"), Nkey("A"), Nkey("O"), Nkey("A")
        unlimited = {"subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": True, "conn": -1,
                     "leaf": -1, "mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1}
        operator_jwt = operator.jwt(operator.public, "operator", {"type": "operator", "system_account": system.public},
                                    self.folder)
        accounts = {key.public: operator.jwt(key.public, name, {"type": "account", "limits": limits}, self.folder)
                    for key, name, limits in ((account, "account", unlimited),
                                              (system, "system", {**unlimited, "mem_storage": 0, "disk_storage": 0,
                                                                  "streams": 0, "consumer": 0}))}
        user_jwt = account.jwt(user.public, "user", {"type": "user", "subs": -1, "data": -1, "payload": -1}, self.folder)
        creds = (f"-----BEGIN NATS USER JWT-----\n{user_jwt}\n------END NATS USER JWT------\n\n"
                 f"-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n")
        preload = "".join(f"{key}: {jwt}\n" for key, jwt in accounts.items())
        # With nkeys and tokens, the client of this test has a password.
        both = ('authorization {{ users: [ {{ user: "test", password: "secret" }}, {} ] }}\n', {"user": "test",
                                                                                                 "pass": "secret"})
        cases = (("token", 'authorization { token: "secret" }\n', {"auth_token": "secret"}, "secret\n"),
                 ("nkey", both[0].format(f"{{ nkey: {user.public} }}"), both[1], user.seed + "\n"),
                 ("jwt", f"operator: {operator_jwt}\nresolver: MEMORY\nresolver_preload: {{\n{preload}}}\n"
                         f"system_account: {system.public}\n", None, creds))
        for name, settings, credentials, content in cases:
            with self.subTest(name):
                folder = self.scratch()
                server = NatsServer(folder, settings)
                self.addCleanup(server.kill)
                path = os.path.join(folder, "credentials")
                with open(path, "w") as file:
                    file.write(content)
                if credentials is None:
                    server.start_without_check()
                else:
                    server.credentials = credentials
                    server.start()
                    server.add_stream()
                gateway = self.start(SETTINGS % server.url + f"credentials_file = {path}\n", folder)
                if credentials is None:  # only the gateway can authenticate here, so it finds no stream
                    self.fails(gateway, "no stream has")
                else:
                    self.acknowledged(gateway, 100)
                gateway.stop()

    def test_the_server_and_the_gateway_check_their_certificates(self):
        certificates = Certificates(self.folder)
        certificate, key = certificates.add("server", "DNS:nats.example.com")
        own_certificate, own_key = certificates.add("gateway", "DNS:gateway.example.com")
        self.server.configure(f'tls {{ cert_file: "{certificate}", key_file: "{key}", ca_file: "{certificates.ca}", '
                              "verify: true }\n")
        self.server.tls = certificates.client_context()
        self.server.tls.check_hostname = False
        self.server.tls.load_cert_chain(own_certificate, own_key)
        self.start_server()
        own = f"tls_certificate = {own_certificate}\ntls_key = {own_key}\n"
        for settings, text in ((own + "tls_server_name = nats.example.com\n", "SSL"),  # of an unknown authority
                               (f"tls_ca = {certificates.ca}\n" + own, "SSL"),  # of another name
                               (f"tls_ca = {certificates.ca}\ntls_server_name = nats.example.com\n", "")):  # no own one
            with self.subTest(settings):
                gateway = self.start_gateway(settings)
                self.eventually(lambda: text in (self.uplink(gateway)["error"] or "") and self.uplink(gateway)["error"],
                                "an error", lambda: self.uplink(gateway))
                self.assertEqual(0, self.uplink(gateway)["samples"]["acknowledged"])
                gateway.stop()
        gateway = self.start_gateway(f"tls_ca = {certificates.ca}\ntls_server_name = nats.example.com\n" + own)
        self.acknowledged(gateway, 500)
        self.server.kill()
        self.eventually(lambda: not self.uplink(gateway)["connected"], "the end of the connection")
        self.server.start()
        self.acknowledged(gateway, self.uplink(gateway)["samples"]["acknowledged"] + 200)
        self.stop_sampling_and_deliver(gateway)
        self.check_stream()

    def read_records(self, payload):
        """Returns (topic, seq, type) of the records of a message of the format `record`."""
        count, table_bytes = struct.unpack_from("<II", payload)
        topics = payload[8:8 + table_bytes].decode().split("\n")[:count]
        records = struct.iter_unpack("<qqQBBBBI32s", payload[8 + table_bytes:])
        return [(topics[each[7]], each[2], each[3]) for each in records]

    def test_records_have_all_samples(self):
        self.start_server()
        gateway = self.start_gateway("format = record\n")
        self.acknowledged(gateway, 500)
        sampled = self.stop_sampling_and_deliver(gateway)
        seqs = {}
        for headers, payload in self.server.messages():
            self.assertEqual("record", headers["Telegate-Format"])
            for topic, seq, kind in self.read_records(payload):
                self.assertLess(kind, 16)
                seqs.setdefault(topic, []).append(seq)
        self.assertEqual({"sim/sine", "sim/counter"}, seqs.keys())
        for each in seqs.values():
            self.assertEqual(list(range(1, len(each) + 1)), each)
        self.assertEqual(sampled, sum(map(len, seqs.values())))

    def test_blocks_are_segments_of_the_log(self):
        log_tool = os.environ.get("TELEGATE_GATEWAY_LOG", "")
        self.start_server()
        gateway = self.start_gateway("format = block\n")
        self.acknowledged(gateway, 500)
        sampled = self.stop_sampling_and_deliver(gateway)
        messages = self.server.messages()
        self.assertTrue(all(payload.startswith(messages[0][1][:8]) for _, payload in messages))
        if not os.access(log_tool, os.X_OK):
            self.skipTest("no gateway_log")
        folder = self.scratch()
        for headers, payload in messages:
            with open(os.path.join(folder, f"{int(headers['Telegate-Position']):020}.tgl"), "wb") as file:
                file.write(payload)
        dump = subprocess.run([log_tool, "export", "--format", "csv", "--output", "-", folder], capture_output=True, text=True, check=True)
        self.assertEqual(sampled, len(dump.stdout.splitlines()) - 1)

    def test_each_channel_can_have_its_own_subject(self):
        self.server.start()
        self.server.add_stream(subjects=["telegate.>"])
        gateway = self.start_gateway("subject = telegate.{device}.{channel}\n")
        self.acknowledged(gateway, 200)
        self.stop_sampling_and_deliver(gateway)
        self.check_stream()
        for headers, payload in self.server.messages():
            channels = {json.loads(line)["channel"] for line in payload.splitlines()}
            self.assertEqual({headers["subject"].split(".")[2]}, channels)
            self.assertEqual("telegate.sim", headers["subject"].rpartition(".")[0])

    def test_a_reload_changes_adds_and_removes_uplinks(self):
        self.start_server()
        self.server.request("STREAM.CREATE.OTHER", {"name": "OTHER", "subjects": ["other"], "storage": "file",
                                                    "duplicate_window": 120_000_000_000})
        gateway = self.start_gateway()
        self.acknowledged(gateway, 100)
        with open(gateway.config) as file:
            settings = file.read()

        def reload(text):
            with open(gateway.config, "w") as file:
                file.write(text)
            gateway.text("/-/reload", "POST")
        reload(settings + "subject = other\n")
        self.eventually(lambda: self.server.request("STREAM.INFO.OTHER", {})["state"]["messages"] > 0, "messages")
        reload(settings + f'[uplink "second"]\nurl = {self.server.url}\nsubject = other\nbatch_samples = 10\n')
        self.eventually(lambda: [each["samples"]["acknowledged"] > 0 for each in
                                 gateway.json("/uplinks")["uplinks"]] == [True, True], "two uplinks")
        reload(settings)
        self.stop_sampling_and_deliver(gateway)
        self.assertEqual(0, Received(self.server.messages()).inversions)

    def test_messages_have_a_changed_name_and_changed_tags_and_none_is_lost(self):
        self.start_server()
        gateway = self.start_gateway()
        self.acknowledged(gateway, 100)
        with open(gateway.config) as file:
            settings = file.read()
        with open(gateway.config, "w") as file:
            file.write(settings.replace("[gateway]\n", "[gateway]\nname = plant-7\n", 1)
                       .replace("driver = simulated\n", "driver = simulated\ntags = line=3\n")
                       + '[channel "sim/sine"]\ntags = kind=wave\n')
        gateway.text("/-/reload", "POST")
        self.acknowledged(gateway, self.uplink(gateway)["samples"]["acknowledged"] + 500)
        sampled = self.stop_sampling_and_deliver(gateway)
        received = self.check_stream()
        self.assertEqual({}, received.missing)
        self.assertEqual(sampled, sum(map(len, received.samples.values())))
        headers, payload = self.server.messages()[-1]
        self.assertEqual("plant-7", headers["Telegate-Gateway"])
        tags = {sample["channel"]: sample["tags"] for sample in map(json.loads, payload.splitlines())}
        self.assertEqual({"sine": {"line": "3", "kind": "wave"}, "counter": {"line": "3"}}, tags)
        self.assertNotEqual("plant-7", self.server.messages()[0][0]["Telegate-Gateway"])

    def command(self, gateway, path, method="POST", body=None, status=200):
        """Sends a request with a JSON body to the first uplink, and returns the response."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{gateway.rest}/uplinks/{path}", data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            code, _, answer = answer_to(request, DEADLINE_S)
        except urllib.error.HTTPError as refused:
            with refused:
                code, answer = refused.code, refused.read()
        self.assertEqual(status, code, answer)
        return json.loads(answer)

    def test_messages_that_are_too_large_for_the_stream_are_divided(self):
        self.server.start()
        self.server.add_stream()
        gateway = self.start_gateway()
        self.acknowledged(gateway, 100)
        self.assertNotIn("error", self.server.request("STREAM.UPDATE.TELEGATE", {**STREAM, "max_msg_size": 3000}))
        self.acknowledged(gateway, 1000)
        sampled = self.stop_sampling_and_deliver(gateway)
        received = Received(self.server.messages())  # after a refusal, messages may be stored after later ones
        self.assertEqual({}, received.unexplained())
        self.assertEqual({}, received.missing)
        self.assertEqual(sampled, sum(map(len, received.samples.values())))
        self.assertEqual(0, self.uplink(gateway)["losses"])
        self.assertEqual({"samples": []}, self.command(gateway, "cloud/quarantine", "GET"))
        self.assertEqual(0, self.command(gateway, "cloud/quarantine/retry")["quarantine"]["samples"])
        self.assertEqual(0, self.command(gateway, "cloud/quarantine", "DELETE")["quarantine"]["samples"])

    def test_a_server_that_falls_silent_delays_neither_rest_nor_the_end_and_cannot_be_replaced_over_rest(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            gateway = self.start(SETTINGS % f"nats://127.0.0.1:{server.getsockname()[1]}", self.folder)
            peer, _ = server.accept()
            with peer:
                peer.sendall(b'INFO {"headers":true,"max_payload":1000000,"tls_required":true}\r\n')
                self.assertEqual(b"\x16", peer.recv(1))  # its part of the TLS handshake

                def patch(settings, status):
                    request = urllib.request.Request(
                        f"{gateway.rest}/config", json.dumps({"uplink": {"cloud": settings}}).encode(), method="PATCH",
                        headers={"Content-Type": "application/merge-patch+json"})
                    try:
                        self.assertEqual(status, answer_to(request, DEADLINE_S)[0])
                    except urllib.error.HTTPError as refused:
                        with refused:
                            self.assertEqual(status, refused.code)

                patch({"url": ["nats://127.0.0.1:1"]}, 422)
                patch({"window": 10}, 200)
                gateway.stop()

    def test_an_uplink_stays_paused_after_a_restart_until_it_is_resumed(self):
        self.start_server()
        gateway = self.start_gateway()
        self.acknowledged(gateway, 100)
        self.assertTrue(self.command(gateway, "cloud/pause")["paused"])
        gateway.stop()
        gateway = self.start_gateway()
        self.eventually(lambda: self.uplink(gateway)["lag_s"] > 1, "a lag", lambda: self.uplink(gateway))
        self.assertTrue(self.uplink(gateway)["paused"])
        self.assertEqual(0, self.uplink(gateway)["messages"]["sent"])
        self.assertFalse(self.command(gateway, "cloud/resume")["paused"])
        self.stop_sampling_and_deliver(gateway)
        self.check_stream()

    def test_a_rewind_restores_what_the_server_has_lost(self):
        self.start_server()
        gateway = self.start_gateway()
        self.acknowledged(gateway, 500)
        sampled = self.stop_sampling_and_deliver(gateway)
        end = self.uplink(gateway)["position"]
        self.assertNotIn("error", self.server.request("STREAM.DELETE.TELEGATE", {}))
        self.server.add_stream()
        problem = self.command(gateway, "cloud/rewind", body={"position": end + 1}, status=422)
        self.assertIn("not delivered yet", problem["errors"][0]["detail"])
        self.command(gateway, "cloud/rewind", body={"when": 1}, status=422)
        self.command(gateway, "cloud/rewind", body={"time": "yesterday"}, status=422)
        self.command(gateway, "cluod/rewind", body={"position": 0}, status=404)
        self.command(gateway, "cloud/rewind", body={"time": "2020-01-01T00:00:00Z"})
        self.eventually(lambda: self.uplink(gateway)["position"] == end and
                        self.uplink(gateway)["samples"]["in_flight"] == 0, "delivery", lambda: self.uplink(gateway))
        received = self.check_stream()
        self.assertEqual(sampled, sum(map(len, received.samples.values())))
        self.assertEqual(0, received.duplicates)

    def test_what_a_server_has_acknowledged_and_lost_is_delivered_again(self):
        self.start_server()
        gateway = self.start_gateway()
        self.acknowledged(gateway, 200)
        store, earlier = f"{self.folder}/jetstream", f"{self.folder}/earlier"
        self.server.kill()
        shutil.copytree(store, earlier)
        self.server.start()
        self.acknowledged(gateway, self.uplink(gateway)["samples"]["acknowledged"] + 500)
        self.assertEqual(0, self.uplink(gateway)["losses"])
        self.server.kill()
        shutil.rmtree(store)
        shutil.copytree(earlier, store)
        self.server.start()
        self.eventually(lambda: "has lost messages that it had acknowledged; delivering again from position" in
                        (self.uplink(gateway)["last_error"] or ""), "a loss", lambda: self.uplink(gateway))
        self.assertEqual(1, self.uplink(gateway)["losses"])
        sampled = self.stop_sampling_and_deliver(gateway)
        received = self.check_stream()
        self.assertEqual(0, received.duplicates)
        self.assertEqual(sampled, sum(map(len, received.samples.values())))

    def test_a_stream_that_loses_everything_while_nothing_is_sent_is_filled_again(self):
        self.start_server()
        gateway = self.start_gateway()
        self.acknowledged(gateway, 500)
        sampled = self.stop_sampling_and_deliver(gateway)
        self.assertNotIn("error", self.server.request("STREAM.DELETE.TELEGATE", {}))
        self.server.add_stream()
        self.eventually(lambda: self.uplink(gateway)["samples"]["acknowledged"] == 2 * sampled, "a second delivery",
                        lambda: self.uplink(gateway))
        self.assertIn("was replaced by another one", self.uplink(gateway)["last_error"])
        received = self.check_stream()
        self.assertEqual(sampled, sum(map(len, received.samples.values())))

    def test_with_live_first_new_samples_are_not_delayed_by_a_backlog(self):
        self.start_server()
        gateway = self.start_gateway("order = live_first\nrate_max = 4000\n")
        self.acknowledged(gateway, 200)
        self.server.kill()
        delivered = self.uplink(gateway)["samples"]["acknowledged"]
        self.eventually(lambda: self.uplink(gateway)["lag_s"] > 12, "an outage", lambda: self.uplink(gateway))
        waiting = gateway.status()["ledger"]["total"]["sampled"] - delivered  # up to 24,000 on an idle machine
        self.server.start()
        self.eventually(lambda: self.uplink(gateway)["backlog_samples"] > 0, "a backlog", lambda: self.uplink(gateway))
        self.eventually(lambda: self.uplink(gateway)["backlog_samples"] == 0, "the end of the backlog", lambda: self.uplink(gateway))
        sampled = self.stop_sampling_and_deliver(gateway)
        messages = self.server.messages()
        live = [each for each in messages if "Telegate-Historical" not in each[0]]
        history = [each for each in messages if each[0].get("Telegate-Historical") == "yes"]
        self.assertEqual(len(messages), len(live) + len(history))
        received = Received(messages)
        self.assertEqual(({}, {}, 0), (received.unexplained(), received.missing, received.duplicates))
        self.assertEqual(sampled, sum(map(len, received.samples.values())))
        for part in (live, history):
            self.assertEqual(0, Received(part).inversions)
        self.assertGreater(sum(map(len, Received(history).samples.values())), waiting * 5 // 8)
        # In the order of the log, a live sample would be at least as late as the sample of the backlog before it.
        delays = [(time_ns(headers["time"]) - time_ns(json.loads(payload.splitlines()[0])["time"]), "Telegate-Historical" in headers)
                  for headers, payload in messages[messages.index(history[0]):messages.index(history[-1])]]
        late = [delay / backlog for (backlog, is_history), (delay, is_history_too) in itertools.pairwise(delays)
                if is_history and not is_history_too]
        self.assertTrue(late, "no live sample was sent before the end of the backlog")  # few on a busy machine
        self.assertLess(sorted(late)[len(late) // 2], 1 / 3, "live samples are late")
        if verify := os.environ.get("TELEGATE_VERIFY"):
            done = subprocess.run([verify, self.server.url, "--expect", f"{self.folder}/log"], capture_output=True, text=True, check=False)
            self.assertEqual((0, ""), (done.returncode, done.stderr), done.stdout)
            self.assertNotIn("out of order", done.stdout)

    def test_a_url_without_a_server_is_skipped(self):
        self.start_server()
        gateway = self.start(SETTINGS % f"nats://127.0.0.1:1, {self.server.url}", self.folder)
        self.acknowledged(gateway, 100)

    def test_a_server_that_does_not_reach_the_stream_is_left(self):
        other = NatsServer(self.scratch())
        self.addCleanup(other.kill)
        with open(f"{other.folder}/nats.conf", "w") as file:
            file.write(f'listen: "{other.address}:{other.port}"\n')  # without JetStream
        other.start_without_check()

        def is_listening():
            try:
                other.client().close()
            except OSError:
                return False
            return True
        self.eventually(is_listening, "a server")
        self.start_server()
        gateway = self.start(SETTINGS % f"{other.url}, {self.server.url}", self.folder)
        self.acknowledged(gateway, 100)

    def test_the_consumer_of_the_documentation_receives_every_sample(self):
        python = os.path.join(os.environ.get("TELEGATE_CHECKERS", ""), "python", "bin", "python3")
        if not os.path.exists(python):
            self.skipTest("no nats-py (tools/fetch_checkers.sh installs it)")
        with open(os.path.join(os.environ["TELEGATE_SOURCE_DIR"], "docs", "uplinks", "nats.md"), encoding="utf-8") as page:
            code = re.search(r"## Consumer\n.*?```python\n(.*?)```", page.read(), re.S)[1]
        self.start_server()
        gateway = self.start_gateway()
        output = os.path.join(self.folder, "output")
        with open(output, "w") as file:
            self.run_process([python, "-u", "-c", code, self.server.url], stdout=file)

        def received():
            with open(output) as file:
                return [int(line.split()[1]) for line in file if line.startswith("sim/sine ") and line.endswith("\n")]
        self.acknowledged(gateway, 200)
        self.stop_sampling_and_deliver(gateway)
        last = max(each["seq"] for key, samples in self.check_stream().samples.items() if key[1] == "sim/sine"
                   for each in samples.values())
        self.eventually(lambda: len(received()) == last, "all samples")
        self.assertEqual(list(range(1, last + 1)), received())

    def check(self, settings):
        path = os.path.join(self.folder, "check.ini")
        with open(path, "w") as file:
            file.write(settings)
        done = subprocess.run([APP, "--config", path, "--check"], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_settings_that_cannot_work_are_refused(self):
        head = f"[rest]\nlisten =\n[log]\npath = {self.folder}/log\n[uplink \"cloud\"]\n"
        for settings, text in [(head + "url = http://a\n", "must be nats://HOST or tls://HOST"),
                               (head + "url = nats://a:99999\n", "must be nats://HOST or tls://HOST"),
                               (head + "url = nats://a\nsubject = a.*\n", "not a valid subject"),
                               (head + "url = nats://a\nsubject = a.{name}\n", "{device}, {channel} and {gateway}"),
                               (head + "url = nats://a\ntls_key = /k\n", "must be given together"),
                               (head + "url = nats://a\nformat = block\ntopics = a\n", "a block has all channels"),
                               (head + "url = nats://a\nformat = xml\n", "json, cbor, record, block"),
                               (head, "missing in [uplink"),
                               ("[rest]\nlisten =\n[uplink \"cloud\"]\nurl = nats://a\n", "set path in [log]")]:
            with self.subTest(settings):
                code, output = self.check(settings)
                self.assertEqual(78, code, output)
                self.assertIn(text, output)


if __name__ == "__main__":
    main()
