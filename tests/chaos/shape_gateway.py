"""The gateway of a drawn deployment: its settings, its process and what is measured of it without a request to it."""

import http.client
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

from sample_watch import NS
from patient_http import body_of
from shape_checks import shortened, status_faults
from stepped_gateway import WallClock
from waiting import DEADLINE_S, ENVIRONMENT, eventually

AMPLE_DISK_BYTES = 64 * 1024 * 1024
BACKLOG_BYTES = 65_536
REST_PORT, PUBLISH_PORT, ABSENT_PORT = 8_080, 5_556, 4_222  # of own_address()
FREE_BYTES_MIN = 1 << 40  # the maximum of the setting: more than any disk has
WATCH_S, POLL_S = 0.05, 0.5
MEMORY_KIB, CHANNEL_KIB, SUBSCRIBER_KIB = 112 * 1024, 4, 2_048
PUMP_WAIT_S, PUMP_WATCHES = 0.15, 8
STOP_S, STUCK_S = 8, 60
BUSY_S_MAX, BUSY_CHANNELS_PER_S = 12, 500
YEAR_S = 365 * 86_400


def own_address():
    """Returns an address of the loopback network that only this process uses, so that ports stay free."""
    return f"127.{64 + (os.getpid() >> 16) % 128}.{os.getpid() >> 8 & 255}.{os.getpid() & 255}"


class Disk:
    """A small file system for the log, if this process may mount one."""

    def __init__(self, folder, size):
        self.path, self.filler = folder / "disk", folder / "disk/filler"
        self.path.mkdir()
        self.is_mounted = bool(size) and subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", self.path],
                                                        stderr=subprocess.DEVNULL, check=False).returncode == 0

    def fill(self):
        try:
            with open(self.filler, "wb", buffering=0) as file:
                while file.write(bytes(1 << 16)) > 0:
                    pass
        except OSError:
            pass

    def free(self):
        self.filler.unlink(missing_ok=True)

    def close(self):
        if self.is_mounted:
            subprocess.run(["umount", "-l", self.path], check=False)


def clock_shim(folder):
    """Returns the path of the library that moves the wall clock of the gateway, compiled here if ctest has not done it; ""
    if it cannot be used."""
    library = os.environ.get("TELEGATE_CLOCK_SHIM_LIBRARY")
    if library is None:
        library = str(folder / "clock_shim.so")
        source = Path(__file__).with_name("clock_shim.cpp")
        try:
            subprocess.run(["c++", "-std=c++20", "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
        except (OSError, subprocess.CalledProcessError):
            return ""
    return library


class Settings:
    """The text of the settings file. `changed` overrides: queue_size, extra (a device), log (a dict), removed (devices)."""

    def __init__(self, deployment, devices, run):
        self.deployment, self.devices, self.run = deployment, devices, run
        self.changed = {"queue_size": deployment.queue_size, "extra": False, "log": {}, "removed": ()}

    def text(self):
        d, parts = self.deployment, []
        parts.append("[gateway]\n" + (f"queue_size = {self.changed['queue_size']}\n" if self.changed["queue_size"] else ""))
        parts.append(f"heartbeat_ms = {d.heartbeat_ms}\nio_threads = {d.io_threads}\n")
        parts.append(f"state_file = {self.run.folder}/state\n" if d.state_file else "")
        parts.append(f"[queue]\npolicy = {d.queue_policy}\n[rest]\nlisten = {self.run.address}:{REST_PORT}\n")
        for number, endpoint in enumerate(d.endpoints):
            parts.append(f'[publish "p{number}"]\nendpoint = tcp://{self.run.address}:{PUBLISH_PORT + number}\npolicy = {endpoint.policy}\n'
                         f"format = {endpoint.form}\nbacklog_bytes = {BACKLOG_BYTES}\n"
                         f"last_value = {'yes' if d.last_value else 'no'}\n")
        if d.log:
            logged = ", ".join(device.name for device in d.devices if d.is_logged(device))
            log = {"path": self.run.log_path, "free_bytes_min": 0, "devices": logged if d.leaves_out_devices() else "", **d.log,
                   **self.changed["log"]}
            parts.append("[log]\n" + "".join(f"{key} = {value}\n" for key, value in log.items()))
        if d.uplink:
            parts.append(f'[uplink "u"]\nurl = {self.run.uplink_url}\nformat = {d.uplink_form}\norder = {d.uplink_order}\n')
        for name, section in self.devices.sections.items():
            if name not in self.changed["removed"]:
                parts.append(f'[device "{name}"]\n{section}')
        if self.changed["extra"]:
            parts.append('[device "extra"]\ndriver = simulated\nwaveforms = counter\ninterval_ms = 50\n')
        return "".join(parts)


class Process:
    """The gateway. A thread watches it: that it lives, and how long its threads wait for a processor. Polled, it also
    checks each status. `died` says how it ended unexpectedly."""

    def __init__(self, run, app, clock):
        self.run, self.app, self.clock = run, app, clock
        self.config, self.log_file = run.folder / "gateway.ini", run.folder / "gateway.log"
        self.died, self.process, self.faults = None, None, []
        self.waits = []  # (time, seconds that threads have waited for a processor)
        self.pump_waits = []
        self.peak_kib = self.reads = 0
        self.is_expected, self.is_ended = True, threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def start(self):
        self.config.write_text(self.run.settings.text())
        before = self.lines_with(" running rest=")
        with open(self.log_file, "a") as log:
            self.process = subprocess.Popen([self.app, "--config", str(self.config)], stderr=log, stdout=log,
                                            env={**ENVIRONMENT, **self.clock.environment()})
        self.is_expected = False
        eventually(lambda: self.lines_with(" running rest=") > before or self.died or self.process.poll() is not None,
                   lambda: f"running: {self.tail()}")

    def lines_with(self, words):
        return self.log_file.read_text().count(words) if self.log_file.exists() else 0

    def tail(self):
        return "\n    " + "\n    ".join(self.log_file.read_text().splitlines()[-8:])

    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        self.is_expected = True
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Returns the seconds that it took."""
        self.is_expected = True
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STUCK_S)
        except subprocess.TimeoutExpired:
            self.kill()
            self.died = f"the gateway has not stopped within {STUCK_S} s"
            return STUCK_S
        if code != 0:
            self.died = f"stopped with exit code {code}: {self.tail()}"
        return time.monotonic() - begin

    def reload(self):
        words = ("settings reloaded", "settings not changed")
        before = sum(map(self.lines_with, words))
        self.config.write_text(self.run.settings.text())
        self.process.send_signal(signal.SIGHUP)
        eventually(lambda: sum(map(self.lines_with, words)) > before or not self.is_alive(), lambda: f"a reload: {self.tail()}")

    def ask(self, path, method="GET"):
        return json.loads(body_of(f"http://{self.run.address}:{REST_PORT}", path, method, DEADLINE_S))

    def status(self):
        status = self.ask("/status")
        self.reads += 1
        self.faults += shortened(status_faults(status), 2)
        return status

    def watch(self):
        polled = time.monotonic()
        while not self.is_ended.wait(WATCH_S):
            process = self.process
            if process is None:
                continue
            self.measure(process.pid)
            if self.is_expected:
                continue
            if process.poll() is not None:
                if not self.is_expected:
                    self.died = f"the gateway ended with {process.returncode}: {self.tail()}"
                    self.is_expected = True
                continue
            if self.run.deployment.is_watched and time.monotonic() > polled + POLL_S * (1 + self.run.deployment.channels() // 2_000):
                polled = time.monotonic()
                try:
                    self.status()
                except (OSError, http.client.HTTPException, ValueError, KeyError):  # it is stopping
                    pass

    def measure(self, pid):
        waited = of_pump = 0
        try:
            for each in Path(f"/proc/{pid}/task").iterdir():
                name, waited_ns = (each / "comm").read_text(), int((each / "schedstat").read_text().split()[1])
                waited += waited_ns if name != "tg-sample\n" else 0  # it waits at each of its many readings
                of_pump = waited_ns if name == "tg-io\n" else of_pump
            text = Path(f"/proc/{pid}/status").read_text()
            peak = next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmHWM"))
        except (OSError, StopIteration, IndexError):  # ended in the meantime
            return
        self.waits.append((time.monotonic(), waited / NS))
        self.pump_waits.append((time.monotonic(), of_pump / NS))
        self.peak_kib = max(self.peak_kib, peak)

    def waited_s(self, since):
        """Returns how long its threads, and this one, have waited for a processor since then, as far as that excuses a
        delay."""
        return min(self.all_waits_s(since), BUSY_S_MAX + self.run.deployment.channels() / BUSY_CHANNELS_PER_S)

    def is_starved(self):
        """Returns whether the machine is too busy for the number of channels, so that delays mean nothing."""
        return self.run.deployment.channels() > BUSY_CHANNELS_PER_S and self.was_pump_late()

    def was_pump_late(self):
        """Returns whether the pump has waited for a processor so long that a queue of the usual size may overflow."""
        return any(last[1] - first[1] > PUMP_WAIT_S for first, last in zip(self.pump_waits, self.pump_waits[PUMP_WATCHES:]))

    def all_waits_s(self, since):
        recent = [each for each in self.waits if each[0] >= since - 2 * WATCH_S]
        late = max([after[0] - before[0] - WATCH_S for before, after in zip(recent, recent[1:])], default=0)
        waited = sum(max(after[1] - before[1], 0) for before, after in zip(recent, recent[1:]))
        return waited + late

    def memory_fault(self):
        deployment = self.run.deployment
        most = (MEMORY_KIB + deployment.channels() * CHANNEL_KIB + len(deployment.subscribers()) * SUBSCRIBER_KIB +
                (deployment.queue_size or 65_536) // 8)
        if self.peak_kib > most and self.run.checks_memory:
            return f"the gateway has used {self.peak_kib:,} KiB of memory; expected are at most {most:,}"
        return None

    def close(self):
        self.is_expected = True
        self.is_ended.set()
        self.thread.join()
        if self.is_alive():
            self.kill()


class ShapeClock(WallClock):
    """The wall clock of a manner: right, year_1970 at each start, year_ahead, or stepping."""

    def __init__(self, folder, manner):
        super().__init__(folder, clock_shim(folder) if manner != "right" else "")
        self.manner = manner

    def begin(self):
        """A run of the gateway begins."""
        if self.manner == "year_1970":  # a board without a battery
            self.ahead.value = -time.time_ns() + NS
        elif self.manner == "year_ahead":
            self.ahead.value = YEAR_S * NS
