"""Follows docs/how-to-plc.md: writes its files, runs its commands, and compares their output with the page.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP. Addresses and ports of the page are replaced with
free ones.
"""

import os
import re
import shutil
import socket
import subprocess
import sys

from device_peers import APP, DeviceTest, main
from gateway_process import OWN_ADDRESS, eventually

PAGE = os.path.join(os.environ["TELEGATE_SOURCE_DIR"], "docs", "how-to-plc.md")
BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.M | re.S)
# Parts that differ in each run.
VARIABLE = [(re.compile(form), by) for form, by in [
    (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
    (r"\b127(\.\d+){3}\b", "ADDRESS"),  # a connection from another loopback address is shown as 127.0.0.1
    (r"(took |retry_ms=|reads_failed=|samples_missed=|after_s=)[\d.]+", r"\1N"),
    (r'("outages":) ?\d+', r"\1N"), (r"(_total\{.*\}) [1-9]\d*", r"\1 N")]]  # a busy machine may add outages
ENDED = "how-to-plc: exit code "


def parse_console(text):
    """Returns the commands of a block, each with its expected output lines."""
    steps = []
    for line in text.replace(" \\\n    ", " ").splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        elif line:
            steps[-1][1].append(line)
    return steps


def general(line):
    for form, by in VARIABLE:
        line = form.sub(by, line)
    return " ".join(line.split())


def missing_line(expected, output):
    """Returns the first expected line missing from the output; None if all are present. Threads may log in another order."""
    rest = [general(line) for line in output.splitlines()]
    for line in expected:
        if general(line) not in rest:
            return line
        rest.remove(general(line))
    return None


def can_repeat(command):
    """Returns whether a command only reads, so that it can be repeated until it shows the expected output."""
    return re.match(r"(curl|cat|grep|gateway_app .* --read) ", command) and " -X " not in command


class Shell:
    """A bash that runs the commands of the page in order; its jobs end with it."""

    def __init__(self, folder):
        programs = os.path.join(folder, "programs")
        os.mkdir(programs)
        os.symlink(APP, os.path.join(programs, "gateway_app"))
        os.symlink(sys.executable, os.path.join(programs, "python3"))
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith("TELEGATE_") and not key.lower().endswith("_proxy")}
        environment["PATH"] = programs + ":" + os.environ["PATH"]
        environment["CURL_HOME"] = programs
        with open(os.path.join(programs, ".curlrc"), "w") as file:
            file.write("retry = 9\n")  # a gateway that is busy responds with 503
        self.process = subprocess.Popen(["bash"], cwd=folder, env=environment, text=True, bufsize=1,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, command):
        """Returns the output and the exit code of a command."""
        self.process.stdin.write(f"{command}\necho '{ENDED}'$?\n")
        output = ""
        for line in self.process.stdout:
            if line.startswith(ENDED):
                return output, int(line[len(ENDED):])
            output += line
        raise AssertionError(f"the shell exited during: {command}\n{output}")

    def close(self):
        self.process.communicate("kill -9 $(jobs -p)\nwait\n", timeout=60)


class HowToPlc(DeviceTest):
    def setUp(self):
        self.folder = self.scratch()
        self.shell = Shell(self.folder)
        self.addCleanup(self.shell.close)
        self.places = {"127.0.0.1": OWN_ADDRESS}
        sockets = [socket.socket() for _ in range(4)]
        for page_port, each in zip(("5020", "5556", "8080", "9090"), sockets):
            each.bind((OWN_ADDRESS, 0))
            self.places[page_port] = str(each.getsockname()[1])
        for each in sockets:
            each.close()

    def here(self, text):
        return re.sub("|".join(map(re.escape, self.places)), lambda found: self.places[found.group()], text)

    def do(self, command, expected):
        seen = {}

        def is_as_shown():
            seen["output"], seen["code"] = self.shell.run(command)
            seen["missing"] = missing_line(expected, seen["output"])
            return seen["code"] == 0 and seen["missing"] is None

        if not (eventually(is_as_shown) if can_repeat(command) else is_as_shown()):
            log = os.path.join(self.folder, "gateway.log")
            if os.path.exists(log):
                with open(log) as file:
                    print(file.read(), file=sys.stderr)
            self.fail(f"$ {command}\n{seen['output']}exit code {seen['code']}, missing line: {seen['missing']}")

    def test_the_commands_of_the_page_print_the_shown_output(self):
        with open(PAGE) as page:
            blocks = BLOCK.findall(page.read())
        commands = []
        for form, name, text in blocks:
            if name:
                with open(os.path.join(self.folder, name), "w") as file:
                    file.write(self.here(text))
            elif form == "console":
                for command, expected in parse_console(self.here(text)):
                    commands.append(command)
                    self.do(command, expected)
        self.check_promises(commands)

    def check_promises(self, commands):
        """Checks steps that must not be removed when the page is shortened."""
        with open(os.path.join(self.folder, "alarms.log")) as file:
            alarms = file.read()
        self.assertRegex(alarms, r"boiler/flow\.temp\.alarm high good\n(.*\n)*.*boiler/flow\.temp\.alarm normal good\n")
        self.assertRegex(alarms, r"boiler/pressure\.alarm low good\n")
        with open(os.path.join(self.folder, "gateway.log")) as file:
            log = file.read()
        for each in ("device failed device=boiler", "device recovered device=boiler", "path=/config/rollback result=200"):
            self.assertIn(each, log)
        for each in ("--check", "--read", "/status", "/alarms", "/events", "/metrics", "revert_after="):
            self.assertTrue(any(each in command for command in commands), each)


if __name__ == "__main__":
    for program, package in (("jq", "jq"), ("curl", "curl"), ("prometheus", "prometheus"), ("promtool", "prometheus")):
        if not shutil.which(program):
            print(f"skipped: no {program} (Debian package {package})")
            sys.exit(77)
    try:
        import pymodbus.server  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error} (Debian packages python3-pymodbus, python3-serial, python3-serial-asyncio)")
        sys.exit(77)
    main()
