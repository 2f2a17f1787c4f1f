"""Settings on the command line of gateway_app: sources, formats, exit codes.

Environment: TELEGATE_GATEWAY_APP, TELEGATE_SOURCE_DIR.
"""

import json
import os
import re
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

try:
    import jsonschema
except ImportError:
    jsonschema = None

APP = os.environ["TELEGATE_GATEWAY_APP"]
SOURCE = os.environ["TELEGATE_SOURCE_DIR"]
SHIPPED = ["gateway", "embedded", "high_frequency", "cloud"]
DEADLINE_S = 60
DEVICE = '[device "d"]\ndriver = simulated\n'
INVERTERS = """[device "inverter-%d"]
driver = modbus
instances = 1..2
endpoint = tcp://127.0.0.%d:1
registers = registers.csv
[tags]
site = north
"""
TABLE = """name,address,scale,unit,texts
power,40,0.1,W,
state,41,,,"0:off, 1:on"
"""


def run(*arguments, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TELEGATE_")}
    return subprocess.run([APP, *arguments], env=environment | variables, capture_output=True, text=True,
                          timeout=DEADLINE_S, check=False)


def shipped(name):
    return os.path.join(SOURCE, "config", name + ".ini")


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return path


class ReadingADevice(Scratch):
    def test_prints_channels_and_exits(self):
        path = self.write("a.ini", DEVICE + 'waveforms = sine\ninterval_ms = 10\n[channel "d/sine"]\nunit = °C\n')
        answer = run("-c", path, "--read", "d", "--count", "2")
        self.assertEqual((0, ""), (answer.returncode, answer.stderr))
        self.assertRegex(answer.stdout, r"\nsine +\d[\d.]* +°C +good\ndevice d, reading 2 of 2, ")

    def test_exit_codes(self):
        path = self.write("a.ini", DEVICE + '[device "gone"]\ndriver = serial\nport = /nowhere\n')
        self.assertEqual(69, run("-c", path, "--read", "gone").returncode)
        answer = run("-c", path, "--read", "goen")
        self.assertEqual((64, ""), (answer.returncode, answer.stdout))
        self.assertIn('did you mean "gone"?', answer.stderr)
        self.assertEqual(78, run("-c", self.write("b.ini", "x = 1\n"), "--read", "d").returncode)


class Health(Scratch):
    def health_of(self, rest):
        return run("-c", self.write("health.ini", rest + DEVICE), "--health")

    def test_of_a_running_gateway_is_printed_and_of_a_stopped_one_is_an_error(self):
        path = self.write("a.ini", f"[rest]\nlisten =\nunix_socket = {self.folder}/rest.sock\n" + DEVICE)
        gateway = subprocess.Popen([APP, "-c", path], stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + DEADLINE_S
            while (answer := run("-c", path, "--health")).returncode != 0 and time.monotonic() < deadline:
                pass
        finally:
            gateway.terminate()
            gateway.wait(DEADLINE_S)
        self.assertEqual((0, ""), (answer.returncode, answer.stderr))
        self.assertIn("[+] sampling ok\n", answer.stdout)
        answer = run("-c", path, "--health")
        self.assertEqual((69, ""), (answer.returncode, answer.stdout))
        self.assertIn(f"gateway_app: --health: [rest]: {self.folder}/rest.sock: No such file or directory", answer.stderr)

    def test_is_requested_at_each_kind_of_address(self):
        for listen, family, host in (("localhost", socket.AF_INET, "127.0.0.1"), ("[::1]", socket.AF_INET6, "::1"),
                                     ("[::]", socket.AF_INET6, "::1")):
            with self.subTest(listen), socket.create_server((host, 0), family=family) as server:
                threading.Thread(target=self.respond, args=(server,), daemon=True).start()
                answer = self.health_of(f"[rest]\nlisten = {listen}:{server.getsockname()[1]}\n")
                self.assertEqual((0, "ok\n", ""), (answer.returncode, answer.stdout, answer.stderr))

    def respond(self, server):
        client = server.accept()[0]
        with client:
            client.recv(1024)
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\nok\n")

    def test_of_a_server_that_is_silent_is_an_error_after_two_seconds(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            answer = self.health_of(f"[rest]\nlisten = 0.0.0.0:{server.getsockname()[1]}\n")
        self.assertEqual((69, ""), (answer.returncode, answer.stdout))
        self.assertIn("no response within 2 s", answer.stderr)

    def test_needs_an_address_without_tls(self):
        for rest, what in (("[rest]\nlisten =\n", "the gateway has no REST server"),
                           ("[rest]\nlisten = 127.0.0.1:0\n", "the port of listen is 0"),
                           ("[rest]\ntls_certificate = a\ntls_key = b\n", "set unix_socket, which has no TLS")):
            answer = self.health_of(rest)
            self.assertEqual((69, ""), (answer.returncode, answer.stdout))
            self.assertIn(what, answer.stderr)


class ExitCodes(Scratch):
    def test_valid_settings_are_0(self):
        path = self.write("a.ini", DEVICE)
        for arguments in (["--check"], ["--test"], ["--print-config"], ["--print-config=ini"], ["--print-config=json"]):
            with self.subTest(arguments):
                answer = run("-c", path, *arguments)
                self.assertEqual((answer.returncode, answer.stderr), (0, ""))

    def test_an_invalid_command_line_is_64(self):
        for arguments in ([], ["--check"], ["--no-such-flag"], ["-c", "a.ini", "--log-level", "loud"],
                          ["--print-config=xml"]):
            with self.subTest(arguments):
                self.assertEqual(run(*arguments).returncode, 64)

    def test_unreadable_settings_are_66(self):
        path = self.write("a.ini", "")
        for arguments in (["-c", "/nonexistent/gateway.ini"], ["-c", self.folder],
                          ["-c", path, "--config-dir", "/nonexistent"]):
            with self.subTest(arguments):
                self.assertEqual(run(*arguments).returncode, 66)
                self.assertEqual(run(*arguments, "--check").returncode, 66)

    @unittest.skipIf(os.geteuid() == 0, "root can read everything")
    def test_settings_without_read_permission_are_77(self):
        path = self.write("a.ini", "")
        os.chmod(path, 0)
        self.assertEqual(run("-c", path, "--check").returncode, 77)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_output_that_cannot_be_written_is_74(self):
        path = self.write("a.ini", "")
        for arguments in (["--help"], ["--version"], ["-c", path, "--print-config"], ["-c", path, "--check"],
                          ["-c", path, "--check", "--output", "json"]):
            with self.subTest(arguments), open("/dev/full", "w") as full:
                answer = subprocess.run([APP, *arguments], stdout=full, stderr=subprocess.PIPE, text=True,
                                        timeout=DEADLINE_S, check=False)
                self.assertEqual(answer.returncode, 74)
                self.assertIn("cannot write to stdout: No space left on device", answer.stderr)

    def test_problems_are_78_from_every_source(self):
        bad, good = self.write("b.ini", "queue_size = x"), self.write("a.ini", "")
        for arguments, variables in ((["-c", bad], {}), (["-c", good, "--set", "queue_size=x"], {}),
                                     (["-c", good], {"TELEGATE_QUEUE_SIZE": "x"})):
            for purpose in ([], ["--check"], ["--print-config"]):
                with self.subTest(arguments + purpose):
                    self.assertEqual(run(*arguments, *purpose, **variables).returncode, 78)


class StartFailures(Scratch):
    """Each names the setting whose address cannot be bound or whose file cannot be opened."""

    def start(self, text):
        return run("-c", self.write("a.ini", "[rest]\nlisten =\n" + text + DEVICE))

    def test_a_missing_folder_is_named_with_the_setting(self):
        for text, setting, path in (('[publish "p"]\nendpoint = ipc:///nope/p\n', '[publish "p"] endpoint', "ipc:///nope/p"),
                                    ("unix_socket = /nope/s\n", "[rest] unix_socket", "ipc:///nope/s"),
                                    ("[logging]\nfile = /nope/l\n", "[logging] file", "/nope/l")):
            with self.subTest(setting):
                answer = self.start(text)
                self.assertEqual(answer.returncode, 69)
                self.assertIn(f"telegate: cannot start: {setting}: ", answer.stderr)
                self.assertIn(f"{path}: No such file or directory; the directory /nope is missing\n", answer.stderr)

    def test_a_port_in_use_is_named_with_the_setting(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            answer = self.start(f'[publish "p"]\nendpoint = tcp://127.0.0.1:{port}\n')
            self.assertEqual(answer.returncode, 69)
            self.assertIn(f'[publish "p"] endpoint: tcp://127.0.0.1:{port}: Address already in use', answer.stderr)
            answer = run("-c", self.write("b.ini", DEVICE), "--set", f"rest.listen=127.0.0.1:{port}")
            self.assertEqual(answer.returncode, 69)
            self.assertRegex(answer.stderr, rf"\[rest\] listen: .*127.0.0.1:{port}: Address already in use")


class Answers(Scratch):
    def test_every_value_has_its_source(self):
        path = self.write("a.ini", "queue_size = 7\n")
        drop_in = self.write("conf.d/x.ini", "[queue]\npolicy = block\n")
        answer = run("-c", path, "--print-config", "--set", "rest.listen=127.0.0.1:0", "--log-level", "off",
                     TELEGATE_SAMPLING_INTERVAL_MS="2s")
        lines = {tuple(line.replace(" = ", " ").split(maxsplit=2)) for line in answer.stdout.splitlines()}
        for expected in (("gateway.queue_size", "7", f"{path}:1"), ("queue.policy", "block", f"{drop_in}:2"),
                         ("rest.listen", "127.0.0.1:0", "--set"), ("gateway.log_level", "off", "--log-level"),
                         ("gateway.sampling_interval_ms", "2000", "env TELEGATE_SAMPLING_INTERVAL_MS"),
                         ("sampling.realtime_priority", "0", "default")):
            self.assertIn(expected, lines)

    def test_templates_and_tables_are_printed_in_full(self):
        table = self.write("conf/registers.csv", TABLE)
        path = self.write("conf/a.ini", INVERTERS)
        answer = run("-c", path, "--print-config")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        lines = {tuple(line.replace(" = ", " ").split(maxsplit=2)) for line in answer.stdout.splitlines()}
        for expected in (("device.inverter-2.endpoint", "tcp://127.0.0.2:1", f"{path}:4"),
                         ("channel.inverter-1/power.scale", "0.1", f"{table}:2"),
                         ("channel.inverter-2/state.address", "41", f"{table}:3"),
                         ("tags.site.value", "north", f"{path}:7")):
            self.assertIn(expected, lines)

    def test_a_mistake_in_a_table_is_reported_once_with_line_column_and_value(self):
        table = self.write("registers.csv", TABLE.replace("40,", "400000,").replace("1:on", "on"))
        answer = run("-c", self.write("a.ini", INVERTERS), "--check")
        self.assertEqual(answer.returncode, 78)
        lines = answer.stderr.splitlines()
        self.assertEqual(len(lines), 2, answer.stderr)
        self.assertIn(f'{table}:2: address: out of range: "400000"; must be a whole number', lines[0])
        self.assertIn(f'{table}:3: texts: "on" is not a value with a text: must be VALUE:TEXT', lines[1])

    def test_the_printed_file_means_the_same(self):
        self.write("registers.csv", TABLE)
        for path in [shipped(name) for name in SHIPPED] + [self.write("a.ini", INVERTERS)]:
            with self.subTest(path):
                printed = run("-c", path, "--print-config=ini").stdout
                again = self.write("again.ini", printed)
                self.assertEqual(run("-c", again, "--print-config=json").stdout,
                                 run("-c", path, "--print-config=json").stdout)


class Running(Scratch):
    def test_put_config_of_get_config_changes_nothing(self):
        self.write("registers.csv", TABLE)
        path = self.write("a.ini", INVERTERS + """[rest]\nlisten = 127.0.0.1:0\n[publish "p"]\nendpoint = tcp://127.0.0.1:0
[publish "r"]\nendpoint = ipc://@telegate-test-%d\nformat = record\n[device "h"]\ndriver = host\ninterval_ms = 250
[device "s.1"]\ndriver = simulated\ninterval_us = 1500\nwaveforms = sine, noise\namplitude = 0.1\n""" % os.getpid())
        gateway = subprocess.Popen([APP, "--config", path], stderr=subprocess.PIPE, text=True)
        try:
            url = next(found.group(1) for line in gateway.stderr if (found := re.search(r" running rest=(\S+)", line)))
            with urllib.request.urlopen(url + "/config", timeout=DEADLINE_S) as answer:
                given, tag = answer.read(), answer.headers["ETag"]
            request = urllib.request.Request(url + "/config", given, {"Content-Type": "application/json", "If-Match": tag},
                                             method="PUT")
            with urllib.request.urlopen(request, timeout=DEADLINE_S) as answer:
                report = json.load(answer)
            self.assertEqual((report["outcome"], report["changes"], report["errors"]), ("unchanged", [], []))
            with urllib.request.urlopen(url + "/config", timeout=DEADLINE_S) as answer:
                self.assertEqual((answer.read(), answer.headers["ETag"]), (given, tag))
        finally:
            gateway.terminate()
            gateway.communicate(timeout=DEADLINE_S)


@unittest.skipUnless(jsonschema, "no python3-jsonschema")
class TheSchema(Scratch):
    def setUp(self):
        super().setUp()
        with open(os.path.join(SOURCE, "docs", "settings.schema.json")) as file:
            schema = json.load(file)
        jsonschema.Draft202012Validator.check_schema(schema)
        self.validator = jsonschema.Draft202012Validator(schema)

    def test_it_accepts_the_shipped_settings_and_the_defaults(self):
        for arguments in [[]] + [["-c", shipped(name)] for name in SHIPPED]:
            with self.subTest(arguments):
                document = json.loads(run(*arguments, "--print-config=json").stdout)
                self.assertEqual([error.message for error in self.validator.iter_errors(document)], [])

    def test_it_refuses_what_the_gateway_refuses(self):
        device = {"driver": "host"}
        for document in ({"qeue": {}}, {"queue": {"polcy": "block"}}, {"queue": {"policy": "wait"}}, {"queue": []},
                         {"gateway": {"sampling_interval_ms": 0}}, {"gateway": {"sampling_interval_ms": "100ms"}},
                         {"gateway": {"sampling_interval_ms": 1.5}}, {"device": {"a": {}}},
                         {"device": {"A": device}}, {"device": {"a": device | {"seed": 1}}},
                         {"device": {"a": device | {"autostart": "yes"}}},
                         {"device": {"a": device | {"interval_ms": 1, "interval_us": 1000}}},
                         {"device": {"a": device | {"proc_root": ""}}}, {"device": {"a": device | {"proc_root": "/a\nb"}}},
                         {"device": {"a": device | {"proc_root": "/a\\"}}}, {"device": {"a": device | {"proc_root": " /a"}}},
                         {"device": {"a": {"driver": "simulated", "waveforms": []}}},
                         {"device": {"a": {"driver": "simulated", "waveforms": ["sine", "sine"]}}},
                         {"sampling": {"cpu_affinity": [1024]}}, {"publish": {"a": {}}},
                         {"publish": {"a": {"endpoint": "udp://1"}}}, {"publish": {"a": {"endpoint": "tcp://"}}},
                         {"rest": {"listen": "example.org:80"}}):
            with self.subTest(document):
                self.assertFalse(self.validator.is_valid(document))

    def test_it_accepts_what_the_gateway_accepts(self):
        for document in ({}, {"gateway": {"queue_size": 0}}, {"device": {}}, {"sampling": {"cpu_affinity": []}},
                         {"device": {"a.b": {"driver": "simulated", "interval_us": 10, "waveforms": ["sine"]}}},
                         {"publish": {"a": {"endpoint": "ipc:///tmp/x y"}}}, {"rest": {"listen": "[::1]:0"}},
                         {"rest": {"listen": ""}}):
            with self.subTest(document):
                self.assertTrue(self.validator.is_valid(document))


if __name__ == "__main__":
    unittest.main()
