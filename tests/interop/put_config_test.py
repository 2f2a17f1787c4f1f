"""PUT /config from a malicious administrator: no file is opened for writing. Run by ctest."""

import copy
import json
import os
import pathlib
import unittest
import urllib.error
import urllib.request

import no_writing
from device_peers import DeviceTest, main
from gateway_process import DEADLINE_S, eventually

SETTINGS = """[device "host"]
driver = host
interval_ms = 3600000
"""
PRECIOUS = "precious"
SCHEMA = pathlib.Path(os.environ["TELEGATE_SOURCE_DIR"], "docs/settings.schema.json")


@unittest.skipUnless(no_writing.is_known, "no system call filter for this machine")
class PutConfigTest(DeviceTest):
    def setUp(self):
        self.folder = self.scratch()
        self.victim = os.path.join(self.folder, "victim")
        with open(self.victim, "w") as victim:
            victim.write(PRECIOUS)

    def begin(self):
        self.gateway = self.start(SETTINGS, preexec_fn=no_writing.confine)
        self.in_force = self.gateway.json("/config")

    def put(self, section, name, fields):
        """Returns the status of the response to such a section. An accepted change is undone."""
        document = copy.deepcopy(self.in_force)
        if name:
            document.setdefault(section, {})[name] = fields
        else:
            document[section] = {**document.get(section, {}), **fields}
        answers = [self.replace(document, "?dry_run=1"), self.replace(document)]
        self.replace(self.in_force)
        return answers

    def replace(self, document, query=""):
        """Returns the first status that does not mean that changes are too frequent or the gateway is busy."""
        return eventually(lambda: self.try_replace(document, query))

    def try_replace(self, document, query):
        request = urllib.request.Request(self.gateway.rest + "/config" + query, json.dumps(document).encode(),
                                         {"Content-Type": "application/json", "If-Match": "*"}, method="PUT")
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE_S) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code if error.code not in (429, 503) else 0

    def unharmed(self):
        self.assertIsNone(self.gateway.process.poll(), self.gateway.log())
        with open(self.victim) as victim:
            self.assertEqual(victim.read(), PRECIOUS)

    def test_the_filter_detects_a_gateway_that_writes(self):
        with self.assertRaises(AssertionError):
            self.start("[log]\npath = {folder}/log\n", preexec_fn=no_writing.confine)

    def test_a_symbolic_link_in_a_fake_sysfs_is_not_followed(self):
        device = os.path.join(self.folder, "bus/iio/devices/iio:device0")
        os.makedirs(device + "/trigger")
        for attribute in ("sampling_frequency", "trigger/current_trigger", "buffer", "scan_elements"):
            os.symlink(self.victim, os.path.join(device, attribute))
        self.begin()
        fields = {"driver": "iio", "device": "iio:device0", "sys_root": self.folder, "buffered": True, "trigger": "t",
                  "sampling_frequency": 10.0}
        self.assertEqual(self.put("device", "attack", fields), [422, 422])
        self.unharmed()

    def test_no_text_in_any_setting_writes_to_a_file(self):
        link = os.path.join(self.folder, "link")
        os.symlink(self.victim, link)
        self.begin()
        places = json.loads(SCHEMA.read_text())["properties"]
        required = {"command": "/bin/true", "device": "x", "endpoint": "tcp://127.0.0.1:0", "path": link, "port": link}
        answers = []
        for section, shape in places.items():
            inner = shape.get("additionalProperties")
            for kind in (inner.get("oneOf") or [inner]) if inner else [shape]:
                keys = kind.get("properties", {})
                base = {"driver": keys["driver"]["enum"][0]} if "driver" in keys else {}
                base.update({key: required[key] for key in kind.get("required", []) if key in required})
                name = ("host/x" if section == "channel" else "attack") if inner else None
                for key in (key for key, value in keys.items() if value.get("type") in ("string", "array")):
                    for text in (link, "ipc://" + link, "rtu://" + link, "x=" + link):
                        value = [text] if keys[key]["type"] == "array" else text
                        answers += self.put(section, name, {**base, key: value})
                        self.unharmed()
        self.assertGreater(answers.count(422), 100)
        self.assertLessEqual(set(answers), {200, 409, 422})


if __name__ == "__main__":
    main()
