"""Redocly finds no problem in the /openapi.json of a running gateway_app with its recommended rules.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP and the folder of the tools in TELEGATE_CHECKERS.
"""

import json
import os
import shutil
import subprocess
import sys
import unittest
import urllib.request

from device_peers import DeviceTest
from gateway_process import DEADLINE_S
from patient_http import answer_to

REDOCLY = os.path.join(os.environ["TELEGATE_CHECKERS"], "node", "node_modules", ".bin", "redocly")
if not shutil.which("node") or not os.path.exists(REDOCLY):
    print("skipped: no Node or no Redocly CLI (tools/fetch_checkers.sh installs it)")
    sys.exit(77)

TOKEN = "5p0zWb8Qy3kE1nTq"
OFFLINE = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}


class Redocly(DeviceTest):
    def findings(self, gateway, headers):
        folder = self.scratch()
        request = urllib.request.Request(gateway.rest + "/openapi.json", headers=headers)
        with open(os.path.join(folder, "openapi.json"), "wb") as file:
            file.write(answer_to(request, DEADLINE_S)[2])
        linted = subprocess.run([REDOCLY, "lint", "--extends", "recommended", "--format", "json", "openapi.json"],
                                cwd=folder, env={**os.environ, **OFFLINE}, text=True, capture_output=True)
        self.assertTrue(linted.stdout, linted.stderr)
        return [f"{each['ruleId']}: {each['message']}" for each in json.loads(linted.stdout)["problems"]]

    def test_the_document_for_clients_without_credentials(self):
        self.assertEqual(self.findings(self.start(""), {}), [])

    def test_the_document_for_clients_with_tokens(self):
        tokens = os.path.join(self.scratch(), "tokens")
        with open(os.open(tokens, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(f"reader dashboard {TOKEN}\n")
        gateway = self.start("", env={**os.environ, "TELEGATE_REST_TOKENS_FILE": tokens})
        self.assertEqual(self.findings(gateway, {"Authorization": f"Bearer {TOKEN}"}), [])


unittest.main()
