"""The devices of a drawn deployment: their settings, and what those that the test controls have really sent.

A truth knows the values 1, 2, 3, ... that a device has sent, and when. In the samples of a run of the gateway, `value -
seq` of a device with `is_exact` is always the same; other devices may repeat or skip values when the gateway stops.
"""

import http.server
import json
import os
import socket
import struct
import threading
import time
import zlib
from pathlib import Path

from shape_draw import WAVEFORMS
from waiting import wait_a_moment

DATAGRAM_BYTES = 4_000
COUNTING_LOG = Path(__file__).with_name("counting_log")  # of a device `sim`: a channel that counts, every 100 ms
UDP_PORT = 8_125  # of an address that only this process uses
LAST_CHANNELS_MAX = 2_000
COMMAND_S_MIN = 0.05  # between two values of a command


class Truth:
    is_exact = False

    def __init__(self, device, field):
        self.device, self.name = device, device.name
        self.topics = [f"{device.name}/{field}"]

    def newest(self, before):
        """Returns the last value sent up to that time on the monotonic clock."""
        raise NotImplementedError


class Udp(Truth):
    """Sends a sweep over all channels at each interval; the sweeps are numbered."""

    is_exact = True
    FORMS = {"influx": ("m ", ",", "c{}={}i", "m.c{}"), "json": ("{{", ",", '"c{}":{}', "c{}"), "statsd": ("", "\n", "c{}:{}|g", "c{}")}

    def __init__(self, device, chosen, address):
        super().__init__(device, "")
        self.form = chosen.choice(tuple(self.FORMS))
        self.topics = [f"{device.name}/{self.FORMS[self.form][3].format(i)}" for i in range(device.channels)]
        self.bursts = chosen.choice((1, 1, 3))  # sweeps of the first interval
        self.address = address
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sent = []  # when each sweep was sent
        self.due = 0

    def settings(self):
        host, port = self.address
        return (f"driver = udp\nlisten = {host}:{port}\nformat = {self.form}\nchannels_max = {self.device.channels}\n"
                f"interval_ms = {self.device.interval_ms}\n")

    def begin(self, now):
        """A run of the gateway begins."""
        self.due, self.left = now, self.bursts

    def turn(self, now):
        if now < self.due:
            return
        self.send()
        self.left -= 1
        self.due = now + (0.03 if self.left > 0 else self.device.interval_ms / 1_000)

    def send(self):
        head, separator, field, _ = self.FORMS[self.form]
        fields, number = [], len(self.sent) + 1
        for i in range(self.device.channels):
            fields.append(field.format(i, number))
            if i + 1 == self.device.channels or sum(map(len, fields)) + len(fields) > DATAGRAM_BYTES or i % 300 == 299:
                text = head.format() + separator.join(fields) + ("}" if self.form == "json" else "")
                self.socket.sendto(text.encode(), self.address)
                fields = []
        self.sent.append(time.monotonic())

    def newest(self, before):
        return sum(1 for each in self.sent if each <= before)

    def close(self):
        self.socket.close()


class Command(Truth):
    """A command that prints a number that a file keeps; the file is as old as the number."""

    ONCE = "n=$(($(cat {0}) + 1)); echo n=$n; echo $n > {0}.new; mv {0}.new {0}"

    def __init__(self, device, chosen, folder):
        super().__init__(device, "n")
        self.file = Path(folder, f"{device.name}.n")
        self.file.write_text("0")
        script = self.ONCE.format(self.file)
        self.is_continuous = device.kind == "exec_continuous"
        if self.is_continuous:
            script = f"while {script}; do sleep {max(device.interval_ms / 1_000, COMMAND_S_MIN)}; done"
        elif chosen.random() < 0.5:  # two devices that read at different moments
            script = "sleep 0.3; " + script
        self.path = Path(folder, f"{device.name}.sh")
        self.path.write_text(script + "\n")

    def settings(self):
        mode = "continuous" if self.is_continuous else "once"
        return (f"driver = exec\ncommand = /bin/sh {self.path}\nmode = {mode}\n"
                f"interval_ms = {max(self.device.interval_ms, 200)}\n")

    def newest(self, before):
        value = int(self.file.read_text())
        at = time.monotonic() - (time.time() - os.stat(self.file).st_mtime)
        return value if at <= before else value - 1 - int((at - before) / COMMAND_S_MIN)


class Http(Truth):
    """A document with a number that each request increments."""

    def __init__(self, device, server):
        super().__init__(device, "n")
        self.sent = []
        self.url = f"http://{server.server_address[0]}:{server.server_address[1]}/{device.name}"
        server.truths[f"/{device.name}"] = self

    def settings(self):
        return f"driver = http\nurl = {self.url}\ninterval_ms = {max(self.device.interval_ms, 50)}\n"

    def newest(self, before):
        return sum(1 for each in self.sent if each <= before)


class HttpHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        truth = self.server.truths[self.path]
        body = json.dumps({"n": len(truth.sent) + 1}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        truth.sent.append(time.monotonic())

    def log_message(self, *_):
        pass


class HttpServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address):
        super().__init__((address, 0), HttpHandler)
        self.truths = {}
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, *_):
        """The gateway was killed."""

    def end(self):
        self.shutdown()
        self.server_close()


def local_settings(device):
    """Returns the settings of a device that the gateway simulates or has by itself."""
    interval = f"interval_ms = {device.interval_ms}\n"
    if device.kind == "simulated":
        signals = WAVEFORMS[:min(device.channels, len(WAVEFORMS))]
        copies = device.channels // len(signals)
        seed = zlib.crc32(device.name.encode())
        return f"driver = simulated\nwaveforms = {', '.join(signals)}\ncopies = {copies}\nseed = {seed}\n{interval}"
    if device.kind == "replay":
        speed = 100 / min(device.interval_ms, 1_000)
        return f"driver = replay\npath = {COUNTING_LOG}\nsource = sim\nspeed = {speed:.6g}\n{interval}"
    return f"driver = {device.kind}\n{interval}"


class Devices:
    """All devices of a deployment. Threads: one sends; begin() and pause() are called by the thread of the test."""

    def __init__(self, deployment, folder, address):
        self.sections, self.truths = {}, []
        self.server = HttpServer(address)
        self.hole = socket.create_server((address, 0))  # accepts connections and never responds
        for device in deployment.devices:
            truth = self.make(device, deployment.random, folder, address)
            self.truths += [truth] if truth else []
            self.sections[device.name] = truth.settings() if truth else self.other_settings(device)
        self.senders = [each for each in self.truths if isinstance(each, Udp)]
        self.lock, self.is_sending, self.is_ended = threading.Lock(), False, threading.Event()
        self.failure = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def make(self, device, chosen, folder, address):
        if device.kind == "udp":
            return Udp(device, chosen, (address, UDP_PORT + len(self.truths)))
        if device.kind.startswith("exec"):
            return Command(device, chosen, folder)
        return Http(device, self.server) if device.kind == "http" else None

    def other_settings(self, device):
        if device.kind == "hanging":
            host, port = self.hole.getsockname()
            return f"driver = http\nurl = http://{host}:{port}/\ninterval_ms = {max(device.interval_ms, 1_000)}\n"
        return local_settings(device)

    def sockets(self):
        """Returns the bytes that wait in each socket of a sender's gateway, without a request to it."""
        rows = (line.split() for line in Path("/proc/net/udp").read_text().splitlines()[1:])
        waiting = {row[1]: int(row[4].split(":")[1], 16) for row in rows}
        names = (f"{struct.unpack('<I', socket.inet_aton(host))[0]:08X}:{port:04X}"
                 for host, port in (each.address for each in self.senders))
        return [waiting.get(name) for name in names]

    def are_bound(self):
        return None not in self.sockets()

    def are_read(self):
        return not any(self.sockets())

    def begin(self):
        now = time.monotonic()
        for sender in self.senders:
            sender.begin(now)
        self.is_sending = True

    def pause(self):
        """Returns after the last datagram was sent."""
        with self.lock:
            self.is_sending = False

    def send_last(self):
        """Sends twice within the second in which a gateway in low-power mode wakes up once, and then never again."""
        for _ in range(2):
            wait_a_moment(0.25)
            with self.lock:
                for sender in self.senders:
                    if sender.device.channels <= LAST_CHANNELS_MAX:
                        sender.send()

    def resume(self):
        self.is_sending = True

    def run(self):
        try:
            while not self.is_ended.wait(0.005):
                with self.lock:
                    for sender in self.senders if self.is_sending else ():
                        sender.turn(time.monotonic())
        except OSError as error:
            self.failure = error

    def close(self):
        self.is_ended.set()
        self.thread.join()
        self.server.end()
        self.hole.close()
        for sender in self.senders:
            sender.close()
