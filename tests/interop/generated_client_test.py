"""A Python client that openapi-python-client generates from the /openapi.json of a running gateway_app.

Run by ctest with the program's path in TELEGATE_GATEWAY_APP and the folder of the tools in TELEGATE_REST_CHECKERS.
"""

import glob
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request

from device_peers import DEADLINE_S, Gateway, Reader, eventually

TOOLS = os.path.join(os.environ["TELEGATE_REST_CHECKERS"], "python", "bin")
if not os.path.exists(os.path.join(TOOLS, "openapi-python-client")):
    print("skipped: no openapi-python-client (tools/fetch_rest_checkers.sh installs it)")
    sys.exit(77)
sys.path[:0] = glob.glob(os.path.join(TOOLS, "..", "lib", "python3*", "site-packages"))
import attrs  # like httpx, which the generated client imports, one of the tool's own packages

TOKEN = "5p0zWb8Qy3kE1nTq"
SETTINGS = """[gateway]
sampling_interval_ms = 50
record = {folder}/samples
[services "tcp"]
endpoint = tcp://127.0.0.1:0
[device "simulated"]
driver = simulated
"""
PATH_VALUES = {"name": "simulated", "device": "simulated", "channel": "sine"}


def module_of(operation):
    """The module that the generator makes of an operation."""
    name = re.sub("_+", "_", operation["operationId"]).strip("_").lower()
    return importlib.import_module("telegate_client.api.default." + name)


def undocumented(value, path=""):
    """Members, at any depth, that the document does not describe."""
    if isinstance(value, list):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        return [name for key, each in value.items() for name in undocumented(each, f"{path}/{key}")]
    if not hasattr(value, "additional_properties"):
        return []
    members = attrs.asdict(value, recurse=False)
    others = members.pop("additional_properties")
    # A model without members of its own is a map.
    return [f"{path}/{key}" for key in others if members] + undocumented(members or others, path)


class GeneratedClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="telegate-test-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        tokens = os.path.join(cls.folder, "tokens")
        with open(os.open(tokens, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(f"admin operator {TOKEN}\n")
        cls.gateway = Gateway(SETTINGS, cls.folder, env={**os.environ, "TELEGATE_REST_TOKENS_FILE": tokens})
        cls.addClassCleanup(cls.gateway.close)
        cls.generate()
        client = importlib.import_module("telegate_client")
        cls.models = importlib.import_module("telegate_client.models")
        cls.stranger = client.Client(base_url=cls.gateway.rest, timeout=DEADLINE_S)
        cls.client = client.AuthenticatedClient(base_url=cls.gateway.rest, token=TOKEN, timeout=DEADLINE_S)

    @classmethod
    def generate(cls):
        request = urllib.request.Request(cls.gateway.rest + "/openapi.json")
        request.add_header("Authorization", "Bearer " + TOKEN)
        with urllib.request.urlopen(request, timeout=DEADLINE_S) as response:
            text = response.read().decode()
        path = os.path.join(cls.folder, "openapi.json")
        with open(path, "w") as file:
            file.write(text)
        cls.paths = json.loads(text)["paths"]
        generated = subprocess.run(
            ["openapi-python-client", "generate", "--path", path, "--meta", "none", "--fail-on-warning",
             "--output-path", os.path.join(cls.folder, "telegate_client")],
            env={**os.environ, "PATH": f"{TOOLS}:{os.environ['PATH']}"}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if generated.returncode != 0:
            raise AssertionError(generated.stdout)
        sys.path.insert(0, cls.folder)

    def call(self, path, method="get", client=None, **arguments):
        """The response; a gateway on a busy machine may not have one in time (503)."""
        operation = module_of(self.paths[path][method])

        def attempt():
            response = operation.sync_detailed(client=client or self.client, **arguments)
            return response if response.status_code != 503 else None
        return eventually(attempt)

    def test_every_get_gives_what_the_document_says(self):
        subscriber = Reader(self.gateway.endpoints[0])
        self.addCleanup(subscriber.close)
        self.assertTrue(eventually(lambda: self.call("/subscribers").parsed.subscribers))
        self.assertTrue(eventually(lambda: self.call("/samples/latest").parsed.samples))
        for path in (path for path, methods in self.paths.items() if "get" in methods and path != "/stream"):
            with self.subTest(path=path):
                response = self.call(path, **{name: PATH_VALUES[name] for name in re.findall(r"{(\w+)}", path)})
                self.assertEqual(response.status_code, 200)
                content = self.paths[path]["get"]["responses"]["200"]["content"]
                model = next(iter(content.values()))["schema"].get("$ref", "").rpartition("/")[2]
                self.assertIsInstance(response.parsed, getattr(self.models, model) if model else str)
                self.assertEqual(undocumented(response.parsed), [])
                if model:
                    self.assertEqual(response.parsed.to_dict(), json.loads(response.content))

    def test_the_status_is_typed_in_depth(self):
        self.assertTrue(eventually(lambda: self.call("/samples/latest").parsed.samples))
        status = self.call("/status").parsed
        self.assertEqual(status.sampler.devices[0].state, self.models.DeviceState.MEASURING)
        self.assertGreater(status.books.devices["simulated"].sampled, 0)
        self.assertEqual(status.channels.last["simulated/sine"].quality, self.models.Quality.GOOD)

    def test_a_stream_gives_samples(self):
        request = module_of(self.paths["/stream"]["get"])._get_kwargs()
        with self.client.get_httpx_client().stream(**request) as response:
            data = next(line for line in response.iter_lines() if line.startswith("data: {"))
        self.assertEqual(self.models.Sample.from_dict(json.loads(data[len("data: "):])).device, "simulated")

    def test_settings_that_were_read_can_be_sent_back(self):
        settings = self.call("/config").parsed
        report = self.call("/config", "put", body=settings, dry_run=self.models.PutConfigDryRun("1")).parsed
        self.assertIsInstance(report, self.models.ReloadReport)
        self.assertEqual((report.changes, report.errors), ([], []))

    def test_refusals_are_problems(self):
        for status, response in (
                (401, self.call("/status", client=self.stranger)),
                (404, self.call("/devices/{name}", name="nobody")),
                (422, self.call("/samples/latest", prefix="x" * 257))):
            with self.subTest(status=status):
                self.assertEqual(response.status_code, status)
                self.assertIsInstance(response.parsed, self.models.Problem)
                self.assertEqual(response.parsed.status, status)
        self.assertEqual(response.parsed.errors[0].parameter, "prefix")

    def test_health_requires_no_token(self):
        self.assertEqual(self.call("/livez", client=self.stranger).parsed, "ok\n")


unittest.main()
