"""gateway_verify on the stream of a gateway and on its log.

Run by ctest with the paths of the programs in TELEGATE_GATEWAY_APP and TELEGATE_VERIFY.
"""

import json
import os
import shutil
import subprocess
import urllib.request

from device_peers import DeviceTest, main
from gateway_process import DEADLINE_S
from nats_fixture import Certificates, NatsServer, Nkey
from patient_http import answer_to

VERIFY = os.environ["TELEGATE_VERIFY"]
SETTINGS = """[gateway]
state_file = {folder}/state.json
queue_size = 65536
[log]
path = %s
sync_interval = 20ms
[device "sim"]
driver = simulated
waveforms = sine, counter
interval_ms = 1
[uplink "cloud"]
batch_samples = 50
url = %s
"""


class Verify(DeviceTest):
    def setUp(self):
        self.folder = self.scratch()
        self.log = f"{self.folder}/log"
        self.server = NatsServer(self.folder)
        self.addCleanup(self.server.kill)

    def verify(self, source, *arguments):
        done = subprocess.run([VERIFY, source, *arguments], capture_output=True, text=True, timeout=DEADLINE_S, check=False)
        return done.returncode, done.stdout, done.stderr

    def uplink(self):
        return self.gateway.json("/uplinks")["uplinks"][0]

    def deliver(self, more=""):
        """Runs a gateway until more than 500 samples are in the stream and in the log. Returns how many are."""
        self.gateway = self.start(SETTINGS % (self.log, self.server.url) + more, self.folder)
        self.eventually(lambda: self.uplink()["samples"]["acknowledged"] > 500, "samples in the stream", self.uplink)
        self.gateway.text("/stop", "POST")
        sampled = self.gateway.status()["ledger"]["total"]["sampled"]
        self.eventually(lambda: self.uplink()["samples"]["acknowledged"] == sampled, "all samples in the stream", self.uplink)
        return sampled

    def command(self, what, body=b""):
        answer_to(urllib.request.Request(f"{self.gateway.rest}/uplinks/cloud/{what}", body,
                                         {"Content-Type": "application/json"}, method="POST"), DEADLINE_S)

    def rewind(self):
        """Lets the uplink deliver the whole log again."""
        self.command("rewind", b'{"position": 0}')
        end = self.gateway.status()["log"]["synced_position"]
        self.eventually(lambda: self.uplink()["position"] == end, "the end of the log", self.uplink)

    def check_complete(self, sampled):
        code, report, error = self.verify(self.server.url, "--expect", self.log)
        self.assertEqual((0, ""), (code, error), report)
        self.assertIn(f"stream complete: {sampled:,} samples and 0 explained gaps in 1 epoch\n", report)

    def test_a_complete_stream_agrees_with_the_log(self):
        self.server.start()
        self.server.add_stream(subjects=["telegate.>", "other"])
        sampled = self.deliver()
        self.gateway.stop()
        client = self.server.client()
        client.publish("other", b"not from an uplink")
        client.request("$JS.API.INFO", {})
        client.close()
        self.assertIn("1 message not from an uplink", self.verify(f"{self.server.url}/TELEGATE")[1])
        self.check_complete(sampled)
        code, report, error = self.verify(self.log)
        self.assertEqual((0, ""), (code, error))
        self.assertIn(f"log complete: {sampled:,} samples and 0 explained gaps in 1 epoch\n", report)

    def test_a_message_that_was_removed_from_the_stream_is_missing(self):
        self.server.start()
        self.server.add_stream()
        self.deliver()
        messages = self.server.messages()
        for number, place in ((2, "in the middle"), (len(messages), "at the end")):
            with self.subTest(place):
                self.assertNotIn("error", self.server.request("STREAM.MSG.DELETE.TELEGATE", {"seq": number}))
                code, report, _ = self.verify(self.server.url, "--expect", self.log, "--json")
                self.assertEqual(1, code)
                report = json.loads(report)
                self.assertFalse(report["complete"])
                missing = {(channel["topic"], seq) for channel in report["epochs"][0]["channels"]
                           for each in channel["missing"] for seq in range(each["first_seq"], each["last_seq"] + 1)}
                removed = map(json.loads, messages[number - 1][1].splitlines())
                self.assertLessEqual({(f"{each['device']}/{each['channel']}", each["seq"]) for each in removed}, missing)

    def test_every_format_is_read(self):
        self.server.start()
        for form in ("cbor", "record", "block"):
            with self.subTest(form):
                self.log = f"{self.folder}/{form}"
                self.server.add_stream(name=form, subjects=[form])
                sampled = self.deliver(f"format = {form}\nsubject = {form}\n")
                self.gateway.close()
                code, report, error = self.verify(f"{self.server.url}/{form}", "--expect", self.log)
                self.assertEqual((0, ""), (code, error), report)
                self.assertIn(f"stream complete: {sampled:,} samples and 0 explained gaps in 1 epoch\n", report)

    def test_a_rewind_restores_what_the_server_has_lost(self):
        for loss in ("a deleted stream", "a wiped store"):
            with self.subTest(loss):
                self.server.start()
                self.server.add_stream()
                sampled = self.deliver()
                self.command("pause")  # otherwise the uplink may restore it before the check
                if loss == "a deleted stream":
                    self.server.request("STREAM.DELETE.TELEGATE", {})
                else:
                    self.server.kill()
                    self.server.wipe()
                    self.server.start()
                self.server.add_stream()
                self.assertEqual(1, self.verify(self.server.url, "--expect", self.log)[0])
                self.command("resume")
                self.rewind()
                self.check_complete(sampled)
                self.gateway.stop()
                self.server.kill()
                shutil.rmtree(self.folder)
                os.mkdir(self.folder)
                self.server.configure("")

    def test_it_authenticates_as_the_gateway_does(self):
        user, certificates = Nkey("U"), Certificates(self.folder)
        certificate, key = certificates.add("server", "DNS:nats.example.com")
        own_certificate, own_key = certificates.add("gateway", "DNS:gateway.example.com")
        self.server.configure(f'tls {{ cert_file: "{certificate}", key_file: "{key}", ca_file: "{certificates.ca}", '
                              f'verify: true }}\nauthorization {{ users: [ {{ user: "test", password: "secret" }}, '
                              f'{{ nkey: {user.public} }} ] }}\n')
        self.server.credentials = {"user": "test", "pass": "secret"}
        self.server.tls = certificates.client_context()
        self.server.tls.check_hostname = False
        self.server.tls.load_cert_chain(own_certificate, own_key)
        self.server.start()
        self.server.add_stream()
        path = f"{self.folder}/credentials"
        with open(path, "w") as file:
            file.write(user.seed + "\n")
        options = {"--credentials-file": path, "--tls-ca": certificates.ca, "--tls-certificate": own_certificate,
                   "--tls-key": own_key, "--tls-server-name": "nats.example.com"}
        sampled = self.deliver("".join(f"{name[2:].replace('-', '_')} = {value}\n" for name, value in options.items()))
        self.gateway.stop()
        arguments = [word for option in options.items() for word in option]
        code, report, error = self.verify(self.server.url, "--expect", self.log, *arguments)
        self.assertEqual((0, ""), (code, error), report)
        self.assertIn(f"stream complete: {sampled:,} samples", report)
        for left_out in ("--credentials-file", "--tls-ca", "--tls-server-name"):
            with self.subTest(left_out):
                at = arguments.index(left_out)
                self.assertEqual(69, self.verify(self.server.url, *arguments[:at], *arguments[at + 2:])[0])

    def test_what_cannot_be_read_is_reported(self):
        self.server.configure('authorization { user: "telegate", password: "secret" }\n')
        self.server.credentials = {"user": "telegate", "pass": "secret"}
        self.server.start()
        path = f"{self.folder}/credentials"
        for content, code, text in (("telegate wrong\n", 69, "Authorization Violation"),
                                    ("telegate secret\n", 66, "cannot read the stream TELEGATE: "),
                                    ("a b c\n", 66, "must be TOKEN, USER PASSWORD, the seed of an nkey")):
            with self.subTest(content):
                with open(path, "w") as file:
                    file.write(content)
                result = self.verify(self.server.url, "--credentials-file", path)
                self.assertEqual((code, ""), result[:2])
                self.assertIn(text, result[2])
        self.server.add_stream()
        with open(path, "w") as file:
            file.write("telegate secret\n")
        self.assertEqual((0, "stream complete: 0 samples and 0 explained gaps in 0 epochs\n", ""),
                         self.verify(self.server.url, "--credentials-file", path))
        for arguments, code, text in ((("nats://127.0.0.1:1",), 69, "cannot connect: "),
                                      ((f"{self.folder}/none",), 66, "cannot read the directory"),
                                      ((self.server.url, "--expect", f"{self.folder}/none"), 66, "cannot read the directory"),
                                      ((self.server.url, "--credentials-file", f"{self.folder}/none"), 66, "cannot open")):
            with self.subTest(arguments):
                result = self.verify(*arguments)
                self.assertEqual((code, ""), result[:2])
                self.assertIn(text, result[2])


if __name__ == "__main__":
    main()
