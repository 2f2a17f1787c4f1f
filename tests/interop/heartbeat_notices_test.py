"""Heartbeat notices are turned on and off by a reload and by PUT /config while the gateway runs. Run by ctest as
services_test."""

import json
import re
import signal
import unittest
import urllib.request

from patient_http import answer_to
from services_peer import zmq
from gateway_process import DEADLINE_S, Gateway, eventually

SETTINGS = """heartbeat_ms = HEARTBEAT
[rest]
listen = 127.0.0.1:0
[publish "ipc"]
endpoint = ipc://{folder}/pub.ipc
last_value = yes
[device "simulated"]
driver = simulated
waveforms = sine
interval_ms = 3600000
"""


class BeatsTest(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway(SETTINGS.replace("HEARTBEAT", "0"))
        self.addCleanup(self.gateway.close)
        self.rest = re.search(r" running rest=(\S+)", self.gateway.log()).group(1)
        self.subscriber = zmq.Context.instance().socket(zmq.SUB)
        self.addCleanup(self.subscriber.close, 0)
        self.subscriber.subscribe(b"")
        self.subscriber.connect(self.gateway.endpoints[0])
        self.assertEqual(self.next_message()[0], b"simulated/sine")  # its only sample for an hour

    def next_message(self):
        self.assertTrue(self.subscriber.poll(DEADLINE_S * 1000))
        return self.subscriber.recv_multipart()

    def config(self, method="GET", document=None, headers=()):
        body = None if document is None else json.dumps(document).encode()
        request = urllib.request.Request(self.rest + "/config", body, dict(headers), method=method)
        _, fields, answer = answer_to(request, DEADLINE_S)
        return json.loads(answer), fields["ETag"]

    def put_beats(self, milliseconds):
        settings, tag = self.config()
        settings["gateway"]["heartbeat_ms"] = milliseconds
        self.config("PUT", settings, {"If-Match": tag, "Content-Type": "application/json"})

    def expect_beat(self):
        topic, payload = self.next_message()
        self.assertEqual((topic, json.loads(payload)["seq"]), (b"simulated/sine$beat", 1))

    def expect_silence(self):
        def is_silent():
            while self.subscriber.poll(0):
                self.subscriber.recv_multipart()  # messages in flight, however late
            return not self.subscriber.poll(300)
        self.assertTrue(eventually(is_silent))

    def test_a_reload_turns_heartbeat_notices_on_and_off(self):
        self.assertFalse(self.subscriber.poll(0))
        self.gateway.write(SETTINGS.replace("HEARTBEAT", "20"))
        self.gateway.process.send_signal(signal.SIGHUP)
        self.expect_beat()
        self.gateway.write(SETTINGS.replace("HEARTBEAT", "0"))
        self.gateway.process.send_signal(signal.SIGHUP)
        self.assertTrue(eventually(lambda: self.gateway.log().count("settings changed") == 2))
        self.expect_silence()

    def test_put_config_turns_heartbeat_notices_on_and_off(self):
        self.put_beats(20)
        self.expect_beat()
        self.put_beats(0)
        self.expect_silence()


if __name__ == "__main__":
    unittest.main(verbosity=2)
