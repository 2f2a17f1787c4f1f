"""Subscribers of a drawn deployment: each reads all the time, pauses until the end, or never reads. Each checks that the
samples and gap notices of every channel follow one another without a hole."""

import json
import select
import socket
import threading
import time

from sample_watch import raw_zmtp
from shape_checks import RECORD, Seen
from waiting import wait_a_moment

NARROW_BYTES = 16 * 1024  # of the kernel's buffer of a subscriber that does not read
PIECE_BYTES = 256 * 1024


class Subscriber:
    """Threads: its own one reads; join before the results are read. A connection that ends is opened again."""

    def __init__(self, name, endpoint, kind, address):
        self.name, self.policy, self.form, self.kind, self.address = name, endpoint.policy, endpoint.form, kind, address
        self.seen = Seen(name)  # of the present connection
        self.last = {}  # by (epoch, topic)
        self.faults, self.visits, self.is_reading, self.is_ended = [], 0, kind == "reads", False
        self.connection, self.connected_at, self.received = None, None, 0
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.is_ended:
            try:
                self.follow()
            except (OSError, EOFError, AssertionError):  # the gateway is gone, or has closed the connection
                self.connected_at = None
                wait_a_moment(0.05)
            except Exception as error:  # otherwise the thread would end silently
                self.tell(f"cannot continue: {error!r}")
                raise

    def follow(self):
        connection = socket.socket()
        try:
            if not self.is_reading:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, NARROW_BYTES)
            connection.connect(self.address)
            self.connection = connection
            peer = raw_zmtp.RawPeer(connection, b"SUB", 1)
            peer.send(raw_zmtp.command(b"SUBSCRIBE"))
            self.seen, self.last = Seen(self.name), {}
            self.visits += 1
            self.connected_at = time.monotonic()
            end = select.poll()
            end.register(connection, select.POLLRDHUP)
            while not self.is_reading and not self.is_ended:
                if end.poll(50):
                    raise EOFError
            self.read(peer)
        finally:
            connection.close()

    def read(self, peer):
        data, frames = bytearray(), []
        while not self.is_ended and (piece := self.connection.recv(PIECE_BYTES)):
            data += piece
            at = 0
            while (frame := self.frame(data, at)) is not None:
                flags, begin, at = frame
                body = bytes(data[begin:at])
                if flags & raw_zmtp.COMMAND:
                    if body.startswith(b"\x04PING"):
                        peer.send(raw_zmtp.command(b"PONG", body[7:]))
                    continue
                frames.append(body)
                if not flags & raw_zmtp.MORE:
                    self.take(*frames)
                    frames = []
            del data[:at]
        raise EOFError

    @staticmethod
    def frame(data, at):
        """Returns flags, begin and end of the body of a complete frame."""
        head = 9 if len(data) > at and data[at] & raw_zmtp.LONG else 2
        if len(data) < at + head:
            return None
        end = at + head + int.from_bytes(data[at + 1:at + head], "big")
        return (data[at], at + head, end) if len(data) >= end else None

    def take(self, topic, payload):
        topic, _, notice = topic.decode().partition("$")
        self.received += 1
        if notice == "beat":
            return
        if self.form == "record":
            for record in RECORD.iter_unpack(payload):
                last = int.from_bytes(record[8][:8], "little") if notice else record[2]
                self.count(record[1], topic, record[2], last)
                self.seen.add_record(topic, record)
        else:
            told = json.loads(payload)
            self.count(told["epoch"], topic, told.get("first_seq", told.get("seq")), told.get("last_seq", told.get("seq")))
            self.seen.add_json(told)

    def count(self, epoch, topic, first, last):
        before = self.last.get((epoch, topic))
        is_next = before is None or first == before + 1 or (self.policy == "conflate" and last > before)
        if not is_next:
            self.tell(f"{(epoch, topic)}: {first}..{last} follows {before}")
        self.last[epoch, topic] = last

    def tell(self, fault):
        if len(self.faults) < 5:
            self.faults.append(f"{self.name}: {fault}")

    def wake(self):
        """Begins to read if it has paused."""
        self.is_reading = self.is_reading or self.kind == "pauses"

    def leave(self):
        """Ends the connection; a new one follows."""
        self.cut()

    def cut(self):
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except (OSError, AttributeError):  # not connected
            pass

    def close(self):
        self.is_ended = True
        self.cut()
        self.thread.join()
