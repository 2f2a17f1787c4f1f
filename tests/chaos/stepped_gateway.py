"""A gateway_app process with its own wall clock, which a test can step."""

import ctypes
import json
import mmap
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from sample_watch import NS, Steps
from patient_http import body_of
from waiting import DEADLINE_S, ENVIRONMENT, eventually

TURNS_MIN = 100  # of a thread on a processor, for a meaningful average


def processes_of(folder):
    """Returns other processes whose command line contains the folder."""
    found = []
    for each in Path("/proc").iterdir():
        try:
            if each.name.isdigit() and each.name != str(os.getpid()):
                command = (each / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found += [f"{each.name} {command}"] if str(folder) in command else []
        except OSError:  # ended in the meantime
            pass
    return found


class WallClock:
    """The wall clock of the gateway only."""

    def __init__(self, folder, library):
        self.library = library
        self.path = folder / "clock"
        self.path.write_bytes(bytes(8))
        with open(self.path, "r+b") as file:
            self.mapped = mmap.mmap(file.fileno(), 8)
        self.ahead = ctypes.c_int64.from_buffer(self.mapped)
        # Uses the one of three attempts with the least delay.
        tries = [(time.monotonic_ns(), time.time_ns(), time.monotonic_ns()) for _ in range(3)]
        before, utc, after = min(tries, key=lambda each: each[2] - each[0])
        self.real = utc - (before + after) // 2
        self.steps = Steps(self.real)
        self.count = 0
        self.last_s = 0

    def environment(self):
        return {"LD_PRELOAD": str(self.library), "TELEGATE_CLOCK_SHIM": str(self.path)} if self.library else {}

    def step(self, seconds):
        before = time.monotonic_ns()
        self.ahead.value += round(seconds * NS)
        self.steps.add(before, time.monotonic_ns(), self.real + self.ahead.value)
        self.count += 1
        self.last_s = seconds


class Pace:
    """Measures, in a separate process, how late this machine wakes a thread that sleeps for 20 ms, as a reference for
    the gateway."""

    PROGRAM = """
import sys, threading, time
late, due, ended = [], time.monotonic(), threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
while not ended.is_set():
    due += 0.02
    ended.wait(max(0, due - time.monotonic()))
    now = time.monotonic()
    late.append(now - due)
    due = max(due, now - 0.02)
print(sorted(late)[len(late) * 99 // 100])
"""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-c", self.PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def end(self):
        """Returns the 99th percentile in s."""
        return float(self.process.communicate()[0])

    def close(self):
        self.process.kill()
        self.process.wait()


class Gateway:
    def __init__(self, app, folder, settings, environment):
        self.config = folder / "gateway.ini"
        self.config.write_text(settings)
        self.log = folder / "log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([app, "--config", str(self.config)], stderr=log,
                                            env={**ENVIRONMENT, **environment})
        self.proc = Path(f"/proc/{self.process.pid}")
        line = eventually(self.running_line, lambda: f"it is running:\n{self.log.read_text()}")
        words = dict(word.split("=", 1) for word in line.split() if "=" in word)
        self.rest, self.publish = words["rest"], words.get("publish")

    def running_line(self):
        assert self.process.poll() is None, self.log.read_text()
        return next((line for line in self.log.read_text().splitlines() if " running rest=" in line), None)

    def ask(self, path, method="GET"):
        return json.loads(body_of(self.rest, path, method, DEADLINE_S))

    def command(self, device, what):
        return self.ask(f"/devices/{device}/{what}", "POST")

    def descriptors(self):
        """Returns the kind of each descriptor, without numbers."""
        targets = []
        for each in (self.proc / "fd").iterdir():
            try:
                targets.append(os.readlink(each).split("[")[0])
            except OSError:  # closed in the meantime
                pass
        return sorted(targets)

    def threads(self):
        names = []
        for each in (self.proc / "task").iterdir():
            try:
                names.append((each / "comm").read_text().strip())
            except OSError:  # ended in the meantime
                pass
        return sorted(names)

    def processor_wait_s(self):
        """Returns how long the thread that waits longest for a processor waits each time, on average."""
        longest = 0
        for each in (self.proc / "task").iterdir():
            try:
                _, waited_ns, times = map(int, (each / "schedstat").read_text().split())
            except OSError:  # ended in the meantime
                continue
            if times >= TURNS_MIN:
                longest = max(longest, waited_ns / times / 1e9)
        return longest

    def resident_kib(self):
        return next(int(line.split()[1]) for line in (self.proc / "status").read_text().splitlines() if "VmRSS" in line)

    def stop(self):
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(DEADLINE_S)
        return code, time.monotonic() - begin

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
