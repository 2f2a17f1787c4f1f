"""A loopback proxy that cuts connections on request."""

import selectors
import socket
import threading

NARROW_BYTES = 32 * 1024  # of the kernel's buffers, so that a slow client is noticed quickly
PIECE_BYTES = 256 * 1024


class CuttingProxy:
    """Forwards connections from its port to another one, which may be on another host. It can close all of them at any
    point of the data."""

    def __init__(self, target, is_narrow, host="127.0.0.1", target_host=None):
        self.target = (target_host or host, target)
        self.is_narrow = is_narrow
        self.is_shut = False
        self.listener = socket.create_server((host, 0))
        self.narrow(self.listener, socket.SO_SNDBUF)
        self.port = self.listener.getsockname()[1]
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.bell, self.rope = socket.socketpair()
        self.selector.register(self.bell, selectors.EVENT_READ)
        self.other = {}  # the other end of each connection
        self.waiting = {}  # data waiting to be sent to each
        self.piece = bytearray(PIECE_BYTES)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def narrow(self, one, direction):
        if self.is_narrow:
            one.setsockopt(socket.SOL_SOCKET, direction, NARROW_BYTES)

    def cut(self):
        self.rope.send(b"c")

    def shut(self):
        """Cuts all connections and refuses new ones until is_shut is set to False."""
        self.is_shut = True
        self.cut()

    def end(self):
        self.rope.send(b"e")
        self.thread.join()
        self.listener.close()
        self.bell.close()
        self.rope.close()

    def run(self):
        while True:
            for key, events in self.selector.select():
                if key.fileobj is self.bell:
                    order = self.bell.recv(1)
                    for one in list(self.other):
                        self.close(one)
                    if order == b"e":
                        return
                elif key.fileobj is self.listener:
                    self.accept()
                elif key.fileobj in self.other:
                    self.serve(key.fileobj, events)

    def accept(self):
        near, _ = self.listener.accept()
        if self.is_shut:
            near.close()
            return
        far = socket.socket()
        try:
            self.narrow(far, socket.SO_RCVBUF)
            far.settimeout(1)
            far.connect(self.target)
        except OSError:
            near.close()
            far.close()
            return
        for one, other in ((near, far), (far, near)):
            one.setblocking(False)
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.other[one] = other
            self.selector.register(one, selectors.EVENT_READ)

    def serve(self, one, events):
        try:
            if events & selectors.EVENT_WRITE:
                rest = self.waiting.pop(one)
                rest = rest[one.send(rest):]
                self.hold(one, rest)
            if events & selectors.EVENT_READ:
                count = one.recv_into(self.piece)
                if count == 0:
                    return self.close(one)
                data = memoryview(self.piece)[:count]
                self.hold(self.other[one], self.send(self.other[one], data))
        except BlockingIOError:
            pass
        except OSError:
            self.close(one)

    @staticmethod
    def send(to, data):
        try:
            return data[to.send(data):]
        except BlockingIOError:
            return data

    def hold(self, to, rest):
        """Keeps data that `to` does not accept; its source is not read meanwhile."""
        source = self.other[to]
        if rest:
            self.waiting[to] = bytes(rest)
        self.watch(to)
        self.watch(source)

    def watch(self, one):
        events = 0 if self.other[one] in self.waiting else selectors.EVENT_READ
        events |= selectors.EVENT_WRITE if one in self.waiting else 0
        if not events:
            if one in self.selector.get_map():
                self.selector.unregister(one)
        elif one in self.selector.get_map():
            self.selector.modify(one, events)
        else:
            self.selector.register(one, events)

    def close(self, one):
        for each in (one, self.other.get(one)):
            if each in self.other:
                if each in self.selector.get_map():
                    self.selector.unregister(each)
                self.other.pop(each)
                self.waiting.pop(each, None)
                each.close()
