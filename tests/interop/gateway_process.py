"""A running gateway_app, and waiting in tests. Run by ctest with the path of the program in TELEGATE_GATEWAY_APP."""

import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from patient_http import body_of

DEADLINE_S = 60  # generous: sanitizer builds on a busy machine
# Variables for the tests would be read as settings.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("TELEGATE_")}
# Used by this process only, so that no other test takes a port between two uses.
OWN_ADDRESS = f"127.{64 + (os.getpid() >> 16) % 128}.{os.getpid() >> 8 & 255}.{os.getpid() & 255}"
RUNNING = re.compile(r" running rest=(\S+)((?: publish=\S+)*)((?: services=\S+)*)")


used_ports = set()


def free_port():
    """Returns a port of OWN_ADDRESS that was not returned before."""
    while True:
        with socket.create_server((OWN_ADDRESS, 0)) as free:
            port = free.getsockname()[1]
        if port not in used_ports:
            used_ports.add(port)
            return port


def wait_a_moment(seconds=0.01):
    """Yields the processor while polling; nothing depends on the duration."""
    select.select([], [], [], seconds)


def eventually(condition, what="a condition", deadline_s=DEADLINE_S):
    """Returns the value of the condition once it is true; `what` is a text or a function that returns one."""
    end = time.monotonic() + deadline_s
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {deadline_s} s: {what() if callable(what) else what}")
        wait_a_moment()
    return value


class Gateway:
    """`{folder}` in the settings is replaced with a new scratch folder, unless one is given. Can be stopped and
    restarted; its files are kept until close(). `options` are those of Popen."""

    def __init__(self, settings, folder=None, app=None, arguments=(), **options):
        self.folder = folder or tempfile.mkdtemp(prefix="telegate-test-")
        self.own_folder = folder is None
        handle, self.config = tempfile.mkstemp(suffix=".ini", dir=self.folder)
        os.close(handle)
        self.command = [app or os.environ["TELEGATE_GATEWAY_APP"], "--config", self.config, *arguments]
        self.starts = 0
        self.write(settings)
        self.start(**options)

    def start(self, **options):
        self.starts += 1
        self.log_path = f"{self.config}.log{self.starts}"
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen(self.command, stderr=log, **{"env": ENVIRONMENT, **options})
        try:
            self.rest, *addresses = self.wait_for_line(RUNNING).groups()
        except AssertionError:
            self.close()
            raise
        self.endpoints, self.services = (re.findall(r"=(\S+)", each) for each in addresses)

    def write(self, settings):
        with open(self.config, "w") as config:
            config.write(settings.replace("{folder}", self.folder))

    def path(self, name):
        return os.path.join(self.folder, name)

    def log(self):
        with open(self.log_path) as log:
            return log.read()

    def wait_for_line(self, pattern):
        """Returns the match; fails if the gateway ends before the line."""
        eventually(lambda: re.search(pattern, self.log()) or self.process.poll() is not None, lambda: f"{pattern}: {self.log()}")
        found = re.search(pattern, self.log())
        assert found, f"no line {pattern!r} in the log:\n{self.log()}"
        return found

    def text(self, path, method="GET"):
        return body_of(self.rest, path, method, DEADLINE_S).decode()

    def json(self, path, method="GET"):
        return json.loads(self.text(path, method))

    def status(self):
        return self.json("/status")

    def send(self, number):
        self.process.send_signal(number)

    def stop(self, how=signal.SIGTERM):
        """Returns how many seconds it took."""
        begin = time.monotonic()
        self.send(how)
        self.process.wait(DEADLINE_S)
        return time.monotonic() - begin

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.last_log = self.log() if os.path.exists(self.log_path) else ""
        if self.own_folder:
            shutil.rmtree(self.folder)
