"""Runs gateway_app like a service manager, with a socket for its notifications."""

import ctypes
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "interop"))
from gateway_process import DEADLINE_S, ENVIRONMENT, eventually  # noqa: E402

APP = os.environ["TELEGATE_GATEWAY_APP"]

SETTINGS = """sampling_interval_ms = 10
[rest]
listen = 127.0.0.1:0
[publish "tcp"]
endpoint = tcp://127.0.0.1:0
[device "simulated"]
driver = simulated
"""


class Daemon:
    """A gateway_app. stderr goes to a file that the test reads; `manager` is the socket of the service manager."""

    def __init__(self, settings=SETTINGS, arguments=(), environment=None, before=None, **process):
        self.scratch = tempfile.mkdtemp(prefix="telegate-test-")
        self.config = self.path("gateway.ini")
        if settings is not None:
            with open(self.config, "w") as file:
                file.write(settings.replace("SCRATCH", self.scratch))
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.statuses = []
        self.command = [APP]
        self.manager.bind(self.path("notify"))
        if before:
            before(self)
        environment = environment or {}
        if pass_fds := process.get("pass_fds"):
            process["pass_fds"] = pass_fds()
        variables = {**ENVIRONMENT, "NOTIFY_SOCKET": self.path("notify"), **environment}
        self.stderr = open(self.path("stderr"), "a")
        self.process = subprocess.Popen([*self.command, "--config", self.config, *arguments], stderr=self.stderr,
                                        env={name: value.replace("SCRATCH", self.scratch)
                                             for name, value in variables.items()}, **process)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def told(self, seconds=DEADLINE_S):
        """Returns the next notification as a dictionary; {} if none arrives in time."""
        if not select.select([self.manager], [], [], seconds)[0]:
            return {}
        lines = self.manager.recv(4096).decode().split("\n")
        message = dict(line.split("=", 1) for line in lines)
        self.statuses += [message["STATUS"]] if "STATUS" in message else []
        return message

    def told_until(self, key, seconds=DEADLINE_S):
        """Returns the next notification with this key; {} if none arrives in time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            message = self.told(max(0.0, end - time.monotonic()))
            if key in message:
                return message
        return {}

    def ready(self):
        message = self.told_until("READY")
        assert message, "no READY:\n" + self.log()
        return message

    def log(self, name="stderr"):
        try:
            with open(self.path(name)) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def wait_for_line(self, pattern, name="stderr"):
        found = eventually(lambda: re.search(pattern, self.log(name)) or self.process.poll() is not None)
        found = re.search(pattern, self.log(name))
        assert found, f"no line {pattern!r} in the log:\n{self.log(name)}"
        return found

    def send(self, number):
        self.process.send_signal(number)

    def stop(self):
        """Sends SIGTERM and returns the exit code."""
        self.send(signal.SIGTERM)
        return self.process.wait(DEADLINE_S)

    def thread(self, name):
        """Returns the id of the thread with this name, which a thread sets shortly after its start."""
        tasks = f"/proc/{self.process.pid}/task"

        def find():
            for task in os.listdir(tasks):
                try:
                    with open(f"{tasks}/{task}/comm") as comm:
                        if comm.read().strip() == name:
                            return int(task)
                except OSError:
                    continue  # ended since it was listed
            return None

        found = eventually(find)
        assert found, "no thread " + name
        return found

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.stderr.close()
        self.manager.close()
        shutil.rmtree(self.scratch)


class StoppedThread:
    """Stops a single thread of a child, as if it hung in a system call. Needs ptrace."""

    SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
    WALL = 0x40000000

    def __init__(self, number):
        self.number = number
        self.libc = ctypes.CDLL(None, use_errno=True)

    def __enter__(self):
        self.call(self.SEIZE)
        self.call(self.INTERRUPT)
        os.waitpid(self.number, self.WALL)
        return self

    def __exit__(self, *_):
        try:
            self.call(self.DETACH)
        except ProcessLookupError:  # it ended in the meantime, which only the tracer is notified of
            os.waitpid(self.number, self.WALL)

    def call(self, request):
        pointer = ctypes.c_void_p(0)
        if self.libc.ptrace(ctypes.c_long(request), ctypes.c_long(self.number), pointer, pointer) != 0:
            raise OSError(ctypes.get_errno(), "ptrace")
