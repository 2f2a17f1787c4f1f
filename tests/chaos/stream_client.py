"""A client of /stream that can be away for any time: it continues with Last-Event-ID and notes what it has received."""

import json
import re
import socket
import threading

from waiting import DEADLINE_S, wait_a_moment

EVENT = re.compile(rb'(?:id: (\d+-\d+)\n)?(?:event: (\w+)\n)?'
                   rb'(?:data: (?:{"device":"([^"]*)","channel":"([^"]*)","epoch":(\d+),"seq":(\d+),)?([^\n]*)\n)?\n')
PIECE_BYTES = 256 * 1024


class Ranges:
    """Sequence numbers in ascending order, as ranges."""

    def __init__(self):
        self.all = []

    def last(self):
        return self.all[-1][1] if self.all else 0

    def add(self, seq):
        """Returns False if the number does not come after all others."""
        if self.all and seq == self.all[-1][1] + 1:
            self.all[-1][1] = seq
        elif seq > self.last():
            self.all.append([seq, seq])
        else:
            return False
        return True

    def holes(self, end):
        """Returns the ranges from 1 to `end` that are missing."""
        expected, missing = 1, []
        for first, last in [*self.all, [end + 1, end + 1]]:
            if first > expected:
                missing.append((expected, first - 1))
            expected = last + 1
        return missing


class StreamClient:
    def __init__(self, name, port):
        self.name, self.port = name, port
        self.received = {}  # Ranges by (epoch, topic)
        self.missed = 0  # samples that events reported as missing
        self.samples = self.visits = 0
        self.last_id = b""
        self.faults = []
        self.is_here, self.is_connected = False, False
        self.thread = self.connection = None

    def come(self):
        if not self.is_here:
            self.is_here = True
            self.visits += 1
            self.thread = threading.Thread(target=self.run, daemon=True)
            self.thread.start()

    def leave(self):
        if self.is_here:
            self.is_here = False
            try:
                self.connection.shutdown(socket.SHUT_RDWR)
            except (OSError, AttributeError):  # not connected
                pass
            self.thread.join()

    def run(self):
        while self.is_here:
            try:
                self.follow()
            except OSError:  # the gateway is gone
                wait_a_moment(0.05)
            finally:
                self.is_connected = False

    def follow(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE_S) as self.connection:
            continued = b"Last-Event-ID: " + self.last_id + b"\r\n" if self.last_id else b""
            self.connection.sendall(b"GET /stream HTTP/1.0\r\n" + continued + b"\r\n")
            rest = b""
            while self.is_here and (piece := self.connection.recv(PIECE_BYTES)):
                rest += piece
                if not self.is_connected:
                    head, end, rest = rest.partition(b"\r\n\r\n")
                    if not end:
                        rest = head
                        continue
                    if b" 200 " not in head:
                        raise ConnectionError(head)
                    self.is_connected = True
                rest = self.take(rest)

    def take(self, data):
        """Takes all complete events. Returns the rest."""
        end = data.rfind(b"\n\n") + 2
        if end < 2:
            return data
        for event in EVENT.finditer(data, 0, end):
            event_id, kind, device, channel, epoch, seq, text = event.groups()
            if seq:
                self.samples += 1
                key = int(epoch), (device + b"/" + channel).decode()
                if not self.received.setdefault(key, Ranges()).add(int(seq)):
                    self.tell(f"{key}: {int(seq)} came after {self.received[key].last()}")
            elif kind == b"gap":
                self.missed += json.loads(text).get("missed", 0)
            self.last_id = event_id or self.last_id
        return data[end:]

    def tell(self, fault):
        if len(self.faults) < 20:
            self.faults.append(f"{self.name}: {fault}")
