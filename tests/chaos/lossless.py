#!/usr/bin/env python3
"""Checks that gateway_tail misses nothing when connections are closed, clients are stopped, and the gateway is reloaded
and restarted.

Usage: tests/chaos/lossless.py [--seconds N] [--rate N] [--seeds N] [--seed N]     default: one short round

Three clients follow a gateway, each through its own proxy. At the end, the seqs that each client reports as received or
lost must be all seqs of every channel and epoch, each once. The gateway's own counts are read from REST, and for the
epoch before the restart from its state file. The seed determines the format, the policy for slow clients, the number of I/O threads, and whether
the gateway is stopped or killed. The end of a killed epoch is unknown: the clients must report this, and their ranges
must have no hole before it.

Run by ctest with the paths of the programs in TELEGATE_GATEWAY_APP and TELEGATE_TAIL; by default, those of the release
build are used.
"""

import argparse
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from client_faults import faults_of
from cutting_proxy import CuttingProxy
from waiting import DEADLINE_S, ENVIRONMENT, eventually, wait_a_moment
from patient_http import body_of

BUILD = Path(__file__).resolve().parents[2] / "build"
APP = os.environ.get("TELEGATE_GATEWAY_APP", BUILD / "gateway/gateway_app")
TAIL = os.environ.get("TELEGATE_TAIL", BUILD / "tools/gateway_tail")
CLIENTS = 3
WAVEFORMS = 5
DEVICES = 10
TOPICS = {f"d{i}/{waveform}" for i in range(DEVICES) for waveform in ("sine", "ramp", "square", "noise", "counter")}
TOPICS.add("extra/counter")
STOP_S = 5


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Scenario:
    """Parameters derived from a seed."""

    def __init__(self, seed):
        chosen = random.Random(seed)
        self.policy = chosen.choice(["drop_oldest", "drop_oldest", "disconnect", "drop_newest"])
        self.format = chosen.choice(["record", "json"])
        self.is_killed = chosen.random() < 0.3
        self.io_threads = chosen.choice([1, 3])

    def __str__(self):
        return f"{self.format}, {self.policy}, {'killed' if self.is_killed else 'stopped'}, {self.io_threads} I/O threads"

    def settings(self):
        limit = "" if self.policy == "drop_oldest" else "backlog_bytes = 256KiB\n"
        return f"format = {self.format}\npolicy = {self.policy}\n{limit}"


class Gateway:
    """A gateway_app on fixed ports, so that clients reconnect after a restart."""

    HISTORY = "512MiB"

    def __init__(self, folder, rate, scenario):
        self.folder = folder
        self.scenario = scenario
        self.killed = {}  # previous epochs with their topics; an unknown end is None
        self.publish, self.services, self.rest = free_port(), free_port(), free_port()
        self.interval_us = round(1e6 * DEVICES * WAVEFORMS / rate)
        self.config = folder / "gateway.ini"
        self.log = open(folder / "log", "a")
        self.write({})
        self.start()

    def settings(self, changed):
        more = "".join(f'[device "{name}"]\ndriver = simulated\nwaveforms = counter\ninterval_ms = 1\n'
                       for name in changed.get("extra", []))
        devices = "".join(f'[device "d{i}"]\ndriver = simulated\nwaveforms = sine, ramp, square, noise, counter\n'
                          f"interval_us = {self.interval_us}\n" for i in range(DEVICES))
        return (f"log_level = {changed.get('log_level', 'info')}\nqueue_size = {changed.get('queue_size', 65536)}\n"
                f"history_bytes = {self.HISTORY}\nheartbeat_ms = 500\nio_threads = {self.scenario.io_threads}\nstate_file = {self.folder}/state.json\n"
                f"[rest]\nlisten = 127.0.0.1:{self.rest}\n"
                f'[publish "tcp"]\nendpoint = tcp://127.0.0.1:{self.publish}\n{self.scenario.settings()}'
                f'[services "tcp"]\nendpoint = tcp://127.0.0.1:{self.services}\n{devices}{more}')

    def write(self, changed):
        self.config.write_text(self.settings(changed))

    def start(self):
        self.process = subprocess.Popen([APP, "--config", str(self.config)], stderr=self.log, env=ENVIRONMENT)
        eventually(lambda: self.is_there() or self.process.poll() is not None, "the gateway responds")
        assert self.process.poll() is None, (self.folder / "log").read_text()

    def is_there(self):
        try:
            return self.get("/livez", as_json=False) is not None
        except OSError:
            return False

    def get(self, path, as_json=True):
        body = body_of(f"http://127.0.0.1:{self.rest}", path, "GET", DEADLINE_S)
        return json.loads(body) if as_json else body

    def post(self, path):
        body_of(f"http://127.0.0.1:{self.rest}", path, "POST", DEADLINE_S)

    def reload(self, changed):
        self.write(changed)
        self.process.send_signal(signal.SIGHUP)

    def stop(self):
        if self.scenario.is_killed:
            self.killed[str(self.get("/status")["epoch"])] = dict.fromkeys(TOPICS)
            self.process.kill()
            self.process.wait()
            return
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(DEADLINE_S) == 0, (self.folder / "log").read_text()[-2000:]

    def wait_until_still(self):
        """Stops the devices, and waits until no new samples arrive and the clients have read all of them."""
        still_since = time.monotonic()
        before = None
        end = still_since + DEADLINE_S
        while time.monotonic() < min(end, still_since + 3):
            self.stop_devices()
            now = self.get("/status")
            services, subscribers = now["services"], now["transport"]["subscribers"]
            work = (now["ledger"]["total"]["sampled"], services["samples_replayed"], services["replays_active"],
                    len(subscribers), [each["pending"] for each in subscribers], now["queue"]["depth"])
            if work != before:
                before, still_since = work, time.monotonic()
            wait_a_moment(0.2)

    def stop_devices(self):
        """Includes devices just added by a reload, whose samples may still be in flight."""
        for device in self.get("/devices")["devices"]:
            if device["state"] != "idle":
                self.post(f"/devices/{device['name']}/stop")

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()


class Client:
    """A gateway_tail that connects through two proxies."""

    def __init__(self, number, folder, gateway):
        self.samples = CuttingProxy(gateway.publish, gateway.scenario.policy != "drop_oldest")
        self.services = CuttingProxy(gateway.services, False)
        self.report = folder / f"report{number}.json"
        self.told = open(folder / f"tail{number}", "w")
        self.process = subprocess.Popen(
            [TAIL, f"tcp://127.0.0.1:{self.samples.port}", "--services", f"tcp://127.0.0.1:{self.services.port}",
             "--since", "1h", "--quiet", "--report", str(self.report)],
            stdout=subprocess.DEVNULL, stderr=self.told, env=ENVIRONMENT)
        self.stopped_until = 0

    def stop_for(self, seconds):
        self.process.send_signal(signal.SIGSTOP)
        self.stopped_until = time.monotonic() + seconds

    def go_on(self):
        if self.stopped_until:
            self.process.send_signal(signal.SIGCONT)
            self.stopped_until = 0

    def end(self):
        """Returns the report of what it received and lost."""
        self.go_on()
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(DEADLINE_S)
        return {**json.loads(self.report.read_text()), "code": code}

    def close(self):
        if self.process.poll() is None:
            self.go_on()
            self.process.kill()
            self.process.wait()
        self.samples.end()
        self.services.end()
        self.told.close()


class Round:
    def __init__(self, seed, arguments, folder):
        self.random = random.Random(seed)
        self.seconds = arguments.seconds
        self.folder = folder
        self.scenario = Scenario(seed)
        self.small_queue = max(16, arguments.rate // 50)  # 20 ms: it overflows occasionally
        self.gateway = Gateway(folder, arguments.rate, self.scenario)
        self.clients = []
        self.done = {"cuts": 0, "stops": 0, "reloads": 0, "restarts": 0}

    def close(self):
        for client in self.clients:
            client.close()
        self.gateway.close()

    def run(self):
        self.clients = [Client(number, self.folder, self.gateway) for number in range(CLIENTS)]
        eventually(lambda: len(self.gateway.get("/subscribers")["subscribers"]) == CLIENTS, "the clients are connected")
        eventually(lambda: self.gateway.get("/status")["services"]["replays_completed"] >= CLIENTS,
                   "the clients have the history")
        begin = time.monotonic()
        restart_at = begin + self.seconds * self.random.uniform(0.3, 0.7)
        while time.monotonic() < begin + self.seconds:
            wait_a_moment(self.random.uniform(0.1, 1.0))
            for client in self.clients:
                if client.stopped_until and time.monotonic() > client.stopped_until:
                    client.go_on()
            if restart_at and time.monotonic() > restart_at:
                restart_at = 0
                self.restart()
            else:
                self.random.choice([self.cut, self.cut, self.stop, self.reload])()
        return self.settle()

    def cut(self):
        client = self.random.choice(self.clients)
        self.random.choice([client.samples, client.services]).cut()
        self.done["cuts"] += 1

    def stop(self):
        if not any(client.stopped_until for client in self.clients):
            self.random.choice(self.clients).stop_for(min(STOP_S, self.seconds / 4))
            self.done["stops"] += 1

    def reload(self):
        self.gateway.reload({"log_level": self.random.choice(["info", "warn"]),
                             "queue_size": self.random.choice([self.small_queue, 65536, 131072]),
                             "extra": self.random.choice([[], ["extra"]])})
        self.done["reloads"] += 1

    def restart(self):
        self.gateway.stop()
        self.gateway.start()
        self.done["restarts"] += 1

    def settle(self):
        """Ends the clients when they have read everything; the reports must then be complete."""
        for client in self.clients:
            client.go_on()
        self.gateway.reload({"extra": ["extra"]})  # so that its counts are shown
        eventually(lambda: "extra" in [device["name"] for device in self.gateway.get("/devices")["devices"]], "the reload")
        self.gateway.wait_until_still()
        last = self.last_seqs()
        return [(client.end(), last) for client in self.clients]

    def last_seqs(self):
        """Returns the last seqs by epoch and topic from the gateway's own ledger."""
        now = self.gateway.get("/status")["epoch"]
        last = {**self.gateway.killed, str(now): {each["topic"]: each["ledger"]["sampled"]
                                                  for each in self.gateway.get("/channels")["channels"]}}
        for each in json.loads((self.folder / "state.json").read_text())["epochs"]:
            if str(each["epoch"]) not in last:
                last[str(each["epoch"])] = each["channels"]
        return last


def run_round(seed, arguments):
    folder = Path(tempfile.mkdtemp(prefix="telegate-test-"))
    round_ = Round(seed, arguments, folder)
    good = False
    try:
        results = round_.run()
        faults = [f"client {number}: {fault}" for number, (report, last) in enumerate(results)
                  for fault in faults_of(report, last)]
        samples = sum(end or 0 for topics in results[0][1].values() for end in topics.values())
        print(f"seed {seed} ({round_.scenario}): {samples:,} samples in {len(results[0][1])} epochs, {round_.done}", flush=True)
        for number, (report, _) in enumerate(results):
            print(f"  client {number}: {report['samples']:,} received, {report['recovered']:,} of them by replay, "
                  f"{report['lost']:,} lost {report['lost_by_reason']}", flush=True)
        for fault in faults[:20]:
            print("  " + fault)
        good = not faults
    finally:
        round_.close()
        if good:
            shutil.rmtree(folder)
        else:
            print(f"  logs are in {folder}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--rate", type=int, default=50_000, help="samples per second")
    parser.add_argument("--seeds", type=int, default=1, help="rounds")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2 ** 32), help="seed of the first round")
    arguments = parser.parse_args()
    good = [run_round(arguments.seed + i, arguments) for i in range(arguments.seeds)]
    print(f"{sum(good)} of {len(good)} rounds: every seq once, or reported as lost")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
