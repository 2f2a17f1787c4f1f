"""Simulated devices for devices_soak.py: what the gateway reads from, with the faults that each can have.

A source has a name, the lines of its section, and named faults: fault() starts one, heal() ends it. All are pure Python
and run with the rights of an ordinary user.
"""

import os
import select
import socket
import struct
import threading
import time
import tty
from pathlib import Path

# Faults are short here, so a failed device is retried soon.
PATIENCE = "breaker_wait_ms = 100\nbreaker_wait_max_ms = 500\n"


class Source:
    """A device without faults, simulated by the gateway itself."""

    faults = ()

    def __init__(self, name, lines, interval_ms, wall_offset_ms=None):
        self.name = name
        self.lines = lines
        self.interval_ms = interval_ms
        self.wall_offset_ms = wall_offset_ms  # for a device that is aligned with the wall clock
        self.mode = "good"

    def settings(self):
        aligned = "" if self.wall_offset_ms is None else f"align = wall\noffset_ms = {self.wall_offset_ms}\n"
        return f'[device "{self.name}"]\nautostart = no\ninterval_ms = {self.interval_ms}\n{aligned}{self.lines}'

    def fault(self, kind):
        self.mode = kind

    def heal(self):
        self.mode = "good"

    def close(self):
        pass


class Worker(Source):
    """A source with its own thread, which calls `work` repeatedly."""

    def begin(self):
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run, name=self.name, daemon=True)
        self.thread.start()

    def run(self):
        while not self.ended.is_set():
            self.work()

    def close(self):
        self.ended.set()
        self.thread.join()


class Stalls(Worker):
    """Periods in which this process was not scheduled, so that no source worked, because the machine was busy."""

    STALL_S = 0.2
    TAIL_S = 3  # time until the effects are visible

    def __init__(self):
        self.before = time.monotonic()
        self.found = []  # (from, until)
        self.name = "stalls"
        self.begin()

    def work(self):
        self.ended.wait(0.02)
        now = time.monotonic()
        if now - self.before > self.STALL_S:
            self.found.append((self.before, now))
        self.before = now

    def excuses(self, at):
        """Returns whether an observation at this time may be due to a stall."""
        return at - self.before > self.STALL_S or any(begin - 1 <= at <= until + self.TAIL_S for begin, until in self.found)


def registers_answer(request, number):
    """Returns the reply of a unit to a register request: all registers contain the number."""
    unit, function, _, count = struct.unpack(">BBHH", request)
    return struct.pack(">BBB", unit, function, 2 * count) + struct.pack(">H", number & 0xFFFF) * count


class ModbusTcp(Worker):
    """Faults: accepts requests without replying, closes connections on a request, or disappears and returns on the same
    port."""

    faults = ("hang", "close", "killed")
    HEADER_BYTES = 6

    def __init__(self, name, interval_ms=100):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        super().__init__(name, f"driver = modbus\nendpoint = tcp://127.0.0.1:{self.port}\ntimeout_ms = 2000\n{PATIENCE}"
                               f'[channel "{name}/one"]\naddress = 1\n[channel "{name}/two"]\naddress = 2\ntype = uint32\n',
                         interval_ms)
        self.connections = {}
        self.number = 0
        self.begin()

    def work(self):
        if self.mode == "killed" and self.listener:
            self.drop_all()
            self.listener.close()
            self.listener = None
        elif self.mode != "killed" and not self.listener:
            self.listener = socket.create_server(("127.0.0.1", self.port))
        if not self.listener:
            self.ended.wait(0.02)
            return
        for ready in select.select([self.listener, *self.connections], [], [], 0.02)[0]:
            if ready is self.listener:
                self.connections[self.listener.accept()[0]] = b""
            else:
                self.serve(ready)

    def serve(self, connection):
        try:
            piece = connection.recv(4096)
            received = self.connections[connection] + piece
            if not piece or self.mode == "close":
                self.drop(connection)
                return
            while len(received) >= (whole := self.HEADER_BYTES + int.from_bytes(received[4:6], "big")) > self.HEADER_BYTES:
                self.answer(connection, received[:whole])
                received = received[whole:]
            self.connections[connection] = received
        except OSError:
            self.drop(connection)

    def answer(self, connection, request):
        if self.mode == "good":
            self.number += 1
            body = registers_answer(request[self.HEADER_BYTES:], self.number)
            connection.sendall(request[:4] + struct.pack(">H", len(body)) + body)

    def drop(self, connection):
        del self.connections[connection]
        connection.close()

    def drop_all(self):
        for connection in list(self.connections):
            self.drop(connection)

    def close(self):
        super().close()
        self.drop_all()
        if self.listener:
            self.listener.close()


class Pty(Worker):
    """A serial line whose name stays the same. Faults: silent, sends invalid data, or unplugged."""

    faults = ("silent", "rubbish", "unplugged")

    def __init__(self, name, folder, lines, interval_ms):
        self.path = Path(folder) / f"tty-{name}"
        super().__init__(name, lines.format(port=self.path) + PATIENCE, interval_ms)
        self.master = self.slave = None
        self.plug()
        self.begin()

    def plug(self):
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        self.path.symlink_to(os.ttyname(self.slave))

    def unplug(self):
        self.path.unlink()
        os.close(self.slave)
        os.close(self.master)
        self.master = self.slave = None

    def work(self):
        if self.mode == "unplugged" and self.master is not None:
            self.unplug()
        elif self.mode != "unplugged" and self.master is None:
            self.plug()
        if self.master is None:
            self.ended.wait(0.02)
        else:
            self.talk()

    def say(self, what):
        try:
            os.write(self.master, what)
        except BlockingIOError:  # the reader is slow
            pass

    def close(self):
        super().close()
        if self.master is not None:
            self.unplug()


def nmea(text):
    checksum = 0
    for byte in text.encode():
        checksum ^= byte
    return f"${text}*{checksum:02X}\r\n".encode()


class Lines(Pty):
    """A device that sends lines unprompted."""

    PAUSE_S = 0.1

    def __init__(self, name, folder, kind):
        self.make = {"nmea": self.sentence, "key_value": self.pairs}[kind]
        self.number = 0
        super().__init__(name, folder, f"driver = serial\nport = {{port}}\nformat = {kind}\nsilence_ms = 1500\n", 100)

    def talk(self):
        self.number += 1
        if self.mode == "good":
            self.say(self.make())
        elif self.mode == "rubbish":
            self.say(b"\xff\xfe\x00 no line \x80\n")
        self.ended.wait(self.PAUSE_S)

    def sentence(self):
        return nmea(f"GPGGA,123519.00,4807.038,N,01131.000,E,1,08,0.9,{self.number}.5,M,46.9,M,,")

    def pairs(self):
        return f"n={self.number} temp=21.5 state=on\n".encode()


def crc16(data):
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return struct.pack("<H", crc)


class ModbusRtu(Pty):
    REQUEST_BYTES = 8

    def __init__(self, name, folder):
        self.number = 0
        self.received = b""
        super().__init__(name, folder, "driver = modbus\nendpoint = rtu://{port}\nbaud = 115200\ntimeout_ms = 2000\n", 200)

    def settings(self):
        return super().settings() + f'[channel "{self.name}/energy"]\naddress = 40\n'

    def talk(self):
        if not select.select([self.master], [], [], 0.02)[0]:
            self.received = b""  # requests are separated by silence
            return
        try:
            self.received += os.read(self.master, 256)
        except OSError:
            return
        if len(self.received) < self.REQUEST_BYTES:
            return
        request, self.received = self.received[:self.REQUEST_BYTES], b""
        if self.mode == "good" and crc16(request[:-2]) == request[-2:]:
            self.number += 1
            body = registers_answer(request[:-2], self.number)
            self.say(body + crc16(body))
        elif self.mode == "rubbish":
            self.say(os.urandom(9))


class Datagrams(Worker):
    """Metrics over UDP; the number of sent values is known exactly."""

    PAUSE_S = 0.05
    LINES = {"statsd": "hits:1|c\nlevel:{}|g", "influx": "soak,host=a n={}i,level=0.5"}

    def __init__(self, name, kind):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = probe.getsockname()
        super().__init__(name, f"driver = udp\nlisten = 127.0.0.1:{self.address[1]}\nformat = {kind}\n", 100)
        self.kind = kind
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(self.address)
        self.sent = 0
        self.sending = False
        self.begin()

    def work(self):
        if self.sending:
            try:
                self.socket.send(self.LINES[self.kind].format(self.sent + 1).encode())
                self.sent += 1
            except ConnectionRefusedError:  # error of the previous send: the socket does not exist yet
                self.sent = 0
        self.ended.wait(self.PAUSE_S)

    def close(self):
        super().close()
        self.socket.close()


class Script(Source):
    """A command that the gateway runs; a file next to it selects its behavior."""

    PROGRAMS = {
        "once": ('case $(cat "$0.mode") in\n'
                 "good) echo n=1 state=on;;\n"
                 "fails) echo no such bus >&2; exit 3;;\n"
                 "hangs) sleep 100;;\n"
                 "floods) yes n=1;;\n"
                 "rubbish) printf '\\377 rubbish\\n';;\nesac\n"),
        "continuous": ("n=0\nwhile :; do\n"
                       'case $(cat "$0.mode") in\n'
                       "good) n=$((n + 1)); echo n=$n;;\n"
                       "fails) echo no such bus >&2; exit 3;;\n"
                       "killed) kill -KILL $$;;\nesac\nsleep 0.2\ndone\n"),
    }
    FAULTS = {"once": ("fails", "hangs", "floods", "rubbish"), "continuous": ("fails", "killed")}

    def __init__(self, name, folder, kind, interval_ms):
        self.path = Path(folder) / f"{name}.sh"
        self.path.write_text(self.PROGRAMS[kind])
        self.faults = self.FAULTS[kind]
        super().__init__(name, f"driver = exec\ncommand = /bin/sh {self.path}\nmode = {kind}\ntimeout_ms = 2000\n"
                               f"output_bytes_max = 65536\n{PATIENCE}", interval_ms)
        self.heal()

    def fault(self, kind):
        super().fault(kind)
        replace(self.path.with_name(self.path.name + ".mode"), kind)

    def heal(self):
        self.fault("good")


def replace(path, text):
    """Replaces a file atomically: a reader sees the old or the new text."""
    new = path.with_name(path.name + ".new")
    new.write_text(text + "\n")
    new.rename(path)


class Iio(Source):
    """A simulated /sys with one converter, which can be unplugged or return invalid numbers."""

    faults = ("unplugged", "rubbish")

    def __init__(self, name, folder):
        self.root = Path(folder) / f"sys-{name}"
        self.device = self.root / "bus/iio/devices/iio:device0"
        self.device.mkdir(parents=True)
        for attribute, text in (("name", "adc"), ("in_voltage_scale", "0.5"), ("in_temp_input", "21500")):
            replace(self.device / attribute, text)
        super().__init__(name, f"driver = iio\ndevice = adc\nsys_root = {self.root}\n{PATIENCE}", 250, wall_offset_ms=50)
        self.heal()

    def fault(self, kind):
        super().fault(kind)
        if kind == "unplugged":
            self.device.rename(self.root / "aside")
        else:
            replace(self.device / "in_voltage0_raw", "none")
            replace(self.device / "in_temp_input", "none")

    def heal(self):
        super().heal()
        if not self.device.is_dir():
            (self.root / "aside").rename(self.device)
        replace(self.device / "in_voltage0_raw", "1234")
        replace(self.device / "in_temp_input", "21500")


def all_sources(folder, log):
    """Returns one source of every kind, two of some; the log is of a device `sim`."""
    return [
        Source("gateway", "driver = clock\n", 500),
        Source("host", "driver = host\n", 1000),
        Source("sim", "driver = simulated\nwaveforms = counter, sine\n", 20),
        Source("walled", "driver = simulated\nwaveforms = counter\n", 200, wall_offset_ms=0),
        Source("played", f"driver = replay\npath = {log}\nsource = sim\nloop = yes\n{PATIENCE}", 100),
        ModbusTcp("plc"),
        ModbusTcp("drive"),
        ModbusRtu("meter", folder),
        Lines("gps", folder, "nmea"),
        Lines("greenhouse", folder, "key_value"),
        Datagrams("app", "statsd"),
        Datagrams("telegraf", "influx"),
        Script("ups", folder, "once", 500),
        Script("radio", folder, "continuous", 100),
        Iio("tank", folder),
    ]
