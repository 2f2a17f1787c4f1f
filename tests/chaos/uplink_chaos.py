#!/usr/bin/env python3
"""Checks that an uplink to a cluster of nats-servers misses nothing while servers, connections, the gateway, its disk and
its clock fail.

Usage: tests/chaos/uplink_chaos.py [--seconds N] [--rate N] [--seeds N] [--seed N] [--faults NAME,...]

The gateway delivers its log to a stream with three replicas, partly through proxies that cut connections. At the end,
gateway_verify compares the stream with the log: every sample must be received or reported as missing. Samples may be stored
in another order only after refusals and changes of the leader. The seed determines the faults.

Some faults only happen if --faults names them. If two servers are killed, or also lose their last writes, a cluster may
lose what it has acknowledged: the uplink must notice this and deliver it again. After wipe_server, a server without its
files, a cluster may have lost the stream as a whole.

Run by ctest with the paths of the programs in TELEGATE_GATEWAY_APP and TELEGATE_VERIFY; by default, those of the release
build are used. Clock steps need the library in TELEGATE_CLOCK_SHIM_LIBRARY; interrupted links and a full disk need root.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUILD = Path(__file__).resolve().parents[2] / "build"
os.environ.setdefault("TELEGATE_GATEWAY_APP", str(BUILD / "gateway/gateway_app"))
os.environ.setdefault("TELEGATE_VERIFY", str(BUILD / "tools/gateway_verify"))

from waiting import ENVIRONMENT, eventually, wait_a_moment
from cutting_proxy import CuttingProxy  # noqa: E402
from device_peers import Gateway  # noqa: E402
from nats_fixture import STREAM, NatsCluster  # noqa: E402
from server_links import GATEWAY, ServerLinks, enter  # noqa: E402
from stepped_gateway import WallClock  # noqa: E402

VERIFY = os.environ["TELEGATE_VERIFY"]
CLOCK_SHIM = os.environ.get("TELEGATE_CLOCK_SHIM_LIBRARY")
DELIVERY_S = 240  # after the last fault; the delay between attempts is up to 30 s
DISK_BYTES = 256 * 1024 * 1024
SERVERS = 3
LONG_WINDOW = {"duplicate_window": 3_600_000_000_000}  # of the stream, so that nothing is stored twice
DEVICES, WAVEFORMS = 10, "sine, ramp, square, noise, counter"
ACCOUNTS = """authorization {{ users: [{{ user: telegate, password: {password} }}, {{ user: admin, password: admin }}] }}
"""
SETTINGS = """[gateway]
state_file = {folder}/state.json
queue_size = 262144
[log]
path = %(log)s
free_bytes_min = 0
when_full = %(policy)s
age_max = 1s
sync_interval = 200ms
[uplink "cloud"]
url = %(urls)s
ack_grace = 24h
credentials_file = {folder}/credentials
"""


class SmallDisk:
    """A file system for the log that can be filled, if this process may mount one."""

    def __init__(self, folder):
        self.path = folder / "disk"
        self.path.mkdir()
        self.filler = self.path / "filler"
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", self.path],
                              stderr=subprocess.DEVNULL, check=False)
        self.is_mounted = done.returncode == 0

    def fill(self):
        try:
            with open(self.filler, "wb", buffering=0) as file:
                while file.write(bytes(1 << 20)) > 0:
                    pass
        except OSError:
            pass

    def free(self):
        self.filler.unlink(missing_ok=True)

    def close(self):
        if self.is_mounted:
            subprocess.run(["umount", "-l", self.path], check=False)


class Round:
    def __init__(self, seed, arguments, folder):
        self.random, self.arguments, self.folder = random.Random(seed), arguments, folder
        self.disk = SmallDisk(folder)
        self.clock = WallClock(folder, CLOCK_SHIM)
        self.links = ServerLinks(SERVERS) if arguments.has_links else None
        self.cluster = NatsCluster(folder, self.links.places() if self.links else [{}] * SERVERS)
        # On another address than the servers, which do not listen on their ports yet.
        self.proxies = [CuttingProxy(node.port, False, target_host=node.address) for node in self.cluster.nodes]
        self.addresses = [f"127.0.0.1:{proxy.port}" for proxy in self.proxies]
        self.urls = [f"nats://{address}" for address in self.addresses]
        if self.links:  # a proxy would hide that a link is interrupted
            self.urls += [node.url for node in self.cluster.nodes]
            self.random.shuffle(self.urls)
        self.policy = self.random.choice(["drop_oldest", "drop_newest"])
        self.gateway = None
        self.down = None  # the server that is stopped or killed
        self.active = {}  # names of faults that last, with their ends: (time, function)
        self.counts = {}
        self.refusing = False  # something happened after which the order may change
        self.last = None  # run of gateway_verify
        (folder / "credentials").write_text("telegate secret\n")
        self.allow("secret")

    def allow(self, password):
        """Sets the password that the servers accept from the gateway."""
        self.cluster.configure(ACCOUNTS.format(password=password), self.addresses)
        for node in self.cluster.nodes:
            node.credentials = {"user": "admin", "pass": "admin"}
            if node.process is not None and node.process.poll() is None:
                node.process.send_signal(signal.SIGHUP)

    def start_gateway(self):
        interval_us = round(1e6 * DEVICES * len(WAVEFORMS.split()) / self.arguments.rate)
        devices = "".join(f'[device "d{i}"]\ndriver = simulated\nwaveforms = {WAVEFORMS}\ninterval_us = {interval_us}\n'
                          for i in range(DEVICES))
        settings = {"log": self.disk.path / "log", "policy": self.policy, "urls": ", ".join(self.urls)}
        self.gateway = Gateway(SETTINGS % settings + devices, str(self.folder),
                               env={**ENVIRONMENT, **self.clock.environment()})

    def uplink(self):
        return self.gateway.json("/uplinks")["uplinks"][0]

    def run(self):
        self.cluster.start(**LONG_WINDOW)
        self.start_gateway()
        eventually(lambda: self.uplink()["samples"]["acknowledged"] > 0, lambda: f"a delivery: {self.uplink()}")
        faults = self.arguments.faults.split(",") if self.arguments.faults else [*FAULTS.keys() - ON_REQUEST]
        faults.sort()
        end = time.monotonic() + self.arguments.seconds
        while time.monotonic() < end:
            wait_a_moment(self.random.uniform(0.2, 1.5))
            for name, (at, repair) in list(self.active.items()):
                if time.monotonic() > at:
                    del self.active[name]
                    repair()
            name = self.random.choice(faults)
            if name not in self.active:
                repair = FAULTS[name](self)
                if repair is not None:
                    self.counts[name] = self.counts.get(name, 0) + 1
                if callable(repair):
                    duration_s = self.random.uniform(0.5, 20 if name in LONG_FAULTS else 5)
                    self.active[name] = (time.monotonic() + duration_s, repair)
        for _, repair in self.active.values():
            repair()
        self.gateway.text("/stop", "POST")
        losses = self.uplink()["losses"]
        self.settle()
        found = self.verify()
        if not found["complete"]:  # servers have lost messages since the last check of the uplink, or one is still behind
            eventually(lambda: self.uplink()["losses"] > losses or self.verify()["complete"],
                       lambda: f"all messages, or a loss that the uplink notices: {self.uplink()}, {str(found)[:2000]}", DELIVERY_S)
            self.settle()
            found = self.verify()
        uplink = self.uplink()
        self.gateway.stop()
        return found, uplink

    # Faults. Each returns a function that ends it, True if it is over, or None if it is impossible now.
    def take_down(self, node, fail):
        """One server at a time, while the others have all messages: otherwise, the cluster itself would lose some."""
        if self.down or not node or not self.cluster.is_current():
            return None
        self.refusing, self.down = True, node
        recover = fail(node)

        def bring_up():
            self.down = None
            recover()
        return bring_up

    @staticmethod
    def kill(node):
        node.kill()
        return node.start  # and wait: a server that is starting must not receive SIGHUP

    @staticmethod
    def kill_and_wipe(node):
        node.kill()
        node.wipe()
        return node.start

    @staticmethod
    def suspend(node):
        node.process.send_signal(signal.SIGSTOP)
        return lambda: node.process.send_signal(signal.SIGCONT)

    def isolate(self, node):
        return self.links.isolate(self.cluster.nodes.index(node))

    def separate(self, node):
        number = self.cluster.nodes.index(node)
        return self.links.drop(number, self.links.addresses[(number + 1) % SERVERS])

    def any_server(self):
        return self.random.choice(self.cluster.nodes)

    def kill_leader(self):
        return None if self.down else self.take_down(self.cluster.leader(), self.kill)

    def kill_server(self):
        return self.take_down(self.any_server(), self.kill)

    def kill_two(self):
        return self.take_down_two(False)

    def lose_writes(self):
        """As after a power failure: servers sync their files two minutes after they have acknowledged. The third server,
        which has everything, is suspended until the other two have elected a leader."""
        return self.take_down_two(True)

    def take_down_two(self, has_lost_writes):
        """The leader, which has acknowledged, and another server. The third one may have missed messages."""
        leader = None if self.down else self.cluster.leader()
        others = self.random.sample([node for node in self.cluster.nodes if node != leader], SERVERS - 1)
        two, third = [leader, others[0]], others[1]

        def fail(_):
            resume = self.suspend(third) if self.random.random() < 0.5 and not has_lost_writes else lambda: None
            before = [shutil.copytree(node.store(), self.folder / f"{node.name}-copy") for node in two if has_lost_writes]
            wait_a_moment(self.random.uniform(0, 4))
            for node in two:
                node.kill()
            for node, copy in zip(two, before):
                node.wipe()
                shutil.move(copy, node.store())
            resume()
            return recover

        def recover():
            resume = self.suspend(third) if has_lost_writes else lambda: None
            for node in self.random.sample(two, len(two)):
                node.start_without_check()
                wait_a_moment(self.random.uniform(0, 8))
            eventually(lambda: all(node.is_ready() for node in two) and (not has_lost_writes or self.cluster.leader()),
                       "two servers")
            resume()
        return self.take_down(leader, fail)

    def wipe_server(self):
        return self.take_down(self.any_server(), self.kill_and_wipe)

    def suspend_server(self):
        return self.take_down(self.any_server(), self.suspend)

    def isolate_leader(self):
        return self.take_down(self.cluster.leader(), self.isolate) if self.links and not self.down else None

    def isolate_server(self):
        return self.take_down(self.any_server(), self.isolate) if self.links else None

    def separate_servers(self):
        """Two servers lose their link, and keep those to the third one and to the gateway."""
        return self.take_down(self.any_server(), self.separate) if self.links else None

    def lose_replies(self):
        """A server receives what the gateway sends, and its acknowledgments are lost."""
        return self.links.drop(self.random.randrange(SERVERS), GATEWAY) if self.links else None

    def cut_connections(self):
        for proxy in self.proxies:
            proxy.cut()
        return True

    def kill_gateway(self):
        self.gateway.stop(signal.SIGKILL)
        self.start_gateway()
        return True

    def suspend_gateway(self):
        self.gateway.process.send_signal(signal.SIGSTOP)
        wait_a_moment(self.random.uniform(0.1, 2))
        self.gateway.process.send_signal(signal.SIGCONT)
        return True

    def take_subject(self):
        """The stream refuses messages. A full stream does so, too, but servers then remove messages of some replicas."""
        if self.down:
            return None
        self.refusing = True
        self.update_stream(subjects=["telegate.other"])
        return lambda: self.update_stream(subjects=STREAM["subjects"])

    def update_stream(self, **changes):
        self.cluster.request("STREAM.UPDATE.TELEGATE", {**STREAM, "num_replicas": SERVERS, **LONG_WINDOW, **changes})

    def revoke_credentials(self):
        self.allow("other")
        return lambda: self.allow("secret")

    def step_clock(self):
        if not CLOCK_SHIM:
            return None
        self.clock.step(self.random.choice([-3600, -5, -0.05, 0.05, 5, 3600]))
        return True

    def fill_disk(self):
        if not self.disk.is_mounted:
            return None
        self.disk.fill()
        return self.disk.free

    def settle(self):
        """Waits until everything is delivered."""
        sampled = self.gateway.status()["ledger"]["total"]["sampled"]

        def is_delivered():
            log, uplink = self.gateway.status()["log"], self.uplink()
            lost = sum(log["dropped"].values())
            return log["samples"] + lost >= sampled and log["synced_position"] == log["next_position"] and \
                uplink["position"] == log["synced_position"] and uplink["samples"]["in_flight"] == 0
        eventually(is_delivered, lambda: f"everything is delivered: {self.uplink()} {self.gateway.status()['log']}", DELIVERY_S)

    def verify(self):
        """Returns the report of gateway_verify. The gateway writes its log meanwhile, but samples nothing."""
        credentials = self.folder / "admin"
        credentials.write_text("admin admin\n")
        command = [VERIFY, self.cluster.nodes[0].url, "--expect", self.disk.path / "log", "--json", "--credentials-file",
                   credentials]

        def done():
            """A server that returns may be unavailable for a moment."""
            self.last = subprocess.run(command, capture_output=True, text=True, check=False)
            return self.last.stdout
        return json.loads(eventually(done, lambda: f"a report: {self.last.stderr}"))

    def close(self):
        if self.gateway:
            self.gateway.close()
        self.cluster.kill()
        for proxy in self.proxies:
            proxy.end()
        if self.links:
            self.links.close()
        self.disk.close()


FAULTS = {each.__name__: each for each in (
    Round.kill_leader, Round.kill_server, Round.kill_two, Round.lose_writes, Round.wipe_server, Round.suspend_server,
    Round.isolate_leader, Round.isolate_server, Round.separate_servers, Round.lose_replies, Round.cut_connections, Round.kill_gateway,
    Round.suspend_gateway, Round.take_subject, Round.revoke_credentials, Round.step_clock, Round.fill_disk)}
ON_REQUEST = {"kill_two", "lose_writes", "wipe_server"}
# Servers notice a link that loses everything after seconds.
LONG_FAULTS = ("isolate_leader", "isolate_server", "separate_servers", "lose_replies")


def run_round(seed, arguments):
    folder = Path(tempfile.mkdtemp(prefix="telegate-test-"))
    round_ = Round(seed, arguments, folder)
    good = False
    try:
        report, uplink = round_.run()
        good = report["complete"] and report["duplicates"] == 0 and (report["inversions"] == 0 or round_.refusing)
        print(f"seed {seed}: {report['samples']:,} samples in {len(report['epochs'])} epochs and {report['messages']:,} "
              f"messages, faults {round_.counts}\n  missing {report['missing_by_reason']}, {report['duplicates']:,} "
              f"duplicates, {report['inversions']:,} out of order; last gateway: {uplink['losses']} losses of servers, "
              f"{uplink['messages']}", flush=True)
        if not good:
            for epoch in report["epochs"]:
                for channel in epoch["channels"][:3]:
                    print(f"  {epoch['epoch_ms']} {channel}"[:1000])
    except AssertionError as error:
        print(f"seed {seed}: {error}, faults {round_.counts}")
    finally:
        if not good and round_.gateway:
            print(round_.gateway.log()[-3000:])
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
    parser.add_argument("--faults", default="", help=f"some of {', '.join(FAULTS)} (default: all)")
    arguments = parser.parse_args()
    arguments.has_links = enter()
    good = [run_round(arguments.seed + i, arguments) for i in range(arguments.seeds)]
    print(f"{sum(good)} of {len(good)} rounds: every sample is in the stream, or reported as missing")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
