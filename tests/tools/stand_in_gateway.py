"""A fake gateway of two pyzmq sockets for tests of gateway_tail. It publishes and drops samples on request and serves
the requests of docs/wire.md from its history."""

import calendar
import json
import struct
import time

import zmq

DEADLINE_S = 60
REASONS = {"queue_overflow": 1, "shutdown": 2, "slow": 3, "expired": 4}
TIME = "2026-11-20T23:11:%02d.%09dZ"
TIME_NS = calendar.timegm((2026, 11, 20, 23, 11, 0)) * 10 ** 9


def cbor(value):
    """Encodes the few types that payloads contain, as described in docs/wire.md."""
    def head(kind, number):
        for size, letter in ((24, None), (2 ** 8, ">B"), (2 ** 16, ">H"), (2 ** 32, ">I"), (2 ** 64, ">Q")):
            if number < size:
                if letter is None:
                    return bytes([kind << 5 | number])
                return bytes([kind << 5 | {">B": 24, ">H": 25, ">I": 26, ">Q": 27}[letter]]) + struct.pack(letter, number)
    if isinstance(value, dict):
        return head(5, len(value)) + b"".join(cbor(key) + cbor(each) for key, each in value.items())
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    return head(0, value) if value >= 0 else head(1, -1 - value)


class StandIn:
    """`keys`: secret and public key of a CURVE server; `encrypts`: the sockets that use them."""

    def __init__(self, publish, services, payload_format="json", keys=None, encrypts=("publish", "services")):
        self.context = zmq.Context()
        self.places = {"publish": publish, "services": services}
        self.format = payload_format
        self.keys = keys
        self.encrypts = encrypts
        self.epoch = 1795217494123
        self.former = {}       # epoch: last seq by topic; None if it did not stop cleanly
        self.last = {}         # sampled, by topic
        self.told = {}         # published or reported in a gap
        self.history = []      # samples, in order of position
        self.first_position = 0
        self.forgotten = {}    # topic: last seq that the history no longer retains
        self.is_silent = False
        self.busy = 0          # number of requests to reply to with "busy"
        self.unanswered = 0    # number of requests to ignore
        self.refusal = None    # error in every reply
        self.unknown_keys = set()  # like an older gateway
        self.requests = []
        self.subscribed = 0
        self.publisher = self.router = None
        self.open_publisher()
        self.open_services()

    def bound(self, kind, place):
        socket = self.context.socket(kind)
        socket.linger = 0
        if self.keys and place in self.encrypts:
            socket.curve_server = True
            socket.curve_secretkey, socket.curve_publickey = self.keys
        end = time.monotonic() + DEADLINE_S
        while True:
            try:
                socket.bind(self.places[place])
                break
            except zmq.ZMQError:  # the previous socket is still being closed
                if time.monotonic() > end:
                    raise
        self.places[place] = socket.last_endpoint.decode().rstrip("\0")
        return socket

    def open_publisher(self):
        self.publisher = self.bound(zmq.XPUB, "publish")
        self.subscribed = 0

    def open_services(self):
        self.router = self.bound(zmq.ROUTER, "services")

    def close_publisher(self):
        self.publisher.close(linger=0)
        self.publisher = None

    def close_services(self):
        if self.router:
            self.router.close(linger=0)
        self.router = None

    def close(self):
        self.context.destroy(linger=0)

    def restart(self, is_clean=True):
        self.close_publisher()
        self.close_services()
        self.former[self.epoch] = dict(self.last) if is_clean else None
        self.epoch += 1000
        self.last, self.told, self.history, self.forgotten, self.first_position = {}, {}, [], {}, 0
        self.open_publisher()
        self.open_services()

    # Publishing.
    def sample(self, topic, seq):
        device, channel = topic.split("/")
        return {"device": device, "channel": channel, "epoch": self.epoch, "seq": seq, "time": TIME % (seq % 60, seq),
                "value": seq + 0.5, "unit": "%", "quality": "good"}

    def send(self, topic, payload):
        if self.publisher:
            self.publisher.send_multipart([topic.encode(), payload])

    def record(self, seq, kind, value, behind=b"", quality=0):
        head = struct.pack("<qqQBBBBI", TIME_NS + (seq % 60) * 10 ** 9 + seq, self.epoch, seq, kind, quality, 0, 0, 0)
        return head + (value + behind).ljust(32, b"\0")

    def encoded(self, document, record):
        return {"json": lambda: json.dumps(document, separators=(",", ":")).encode(), "cbor": lambda: cbor(document),
                "record": lambda: record}[self.format]()

    def publish(self, topic, count=1, is_sent=True):
        for _ in range(count):
            seq = self.last[topic] = self.last.get(topic, 0) + 1
            self.told[topic] = seq
            self.history.append(self.sample(topic, seq))
            if is_sent:
                self.send(topic, self.encoded(self.history[-1], self.record(seq, 1, struct.pack("<d", seq + 0.5))))

    def drop(self, topic, count, reason="queue_overflow"):
        """Drops samples before publication and publishes a gap notice."""
        first = self.last.get(topic, 0) + 1
        self.last[topic] = self.told[topic] = first + count - 1
        self.gap(topic, first, self.last[topic], reason)

    def gap(self, topic, first, last, reason):
        device, channel = topic.split("/")
        notice = {"device": device, "channel": channel, "epoch": self.epoch, "first_seq": first, "last_seq": last,
                  "reason": reason, "time": TIME % (0, 0)}
        value = struct.pack("<Q", last)
        self.send(topic + "$gap", self.encoded(notice, self.record(first, 16, value, bytes([REASONS[reason]]), 2)))

    def beat(self, topic):
        device, channel = topic.split("/")
        seq = self.told.get(topic, 0)
        notice = {"device": device, "channel": channel, "epoch": self.epoch, "seq": seq, "time": TIME % (0, 0)}
        self.send(topic + "$beat", self.encoded(notice, self.record(seq, 17, b"", b"", 2)))

    def forget(self, topic, up_to):
        """Removes samples from the history."""
        self.forgotten[topic] = up_to
        before = len(self.history)
        self.history = [each for each in self.history if self.topic_of(each) != topic or each["seq"] > up_to]
        self.first_position += before - len(self.history)

    @staticmethod
    def topic_of(sample):
        return f"{sample['device']}/{sample['channel']}"

    # Services.
    def serve_until(self, condition, what="the expected condition"):
        end = time.monotonic() + DEADLINE_S
        while not condition():
            assert time.monotonic() < end, what + " did not happen"
            self.serve(10)

    def serve(self, wait_ms):
        poller = zmq.Poller()
        for socket in (self.router, self.publisher):
            if socket:
                poller.register(socket, zmq.POLLIN)
        for socket, _ in poller.poll(wait_ms):
            if socket is self.publisher:
                self.subscribed += 1 if socket.recv()[:1] == b"\1" else 0
            else:
                self.take_request(*socket.recv_multipart())

    def take_request(self, peer, *frames):
        request = json.loads(frames[-1])
        self.requests.append(request)
        if self.is_silent or self.unanswered > 0:
            self.unanswered -= 1
            return
        answer = {"service": request["service"], "id": request["id"], "epoch": self.epoch}
        unknown = self.unknown_keys & set(request)
        if self.refusal:
            answer["error"] = self.refusal
        elif unknown:
            key = unknown.pop()
            answer["error"] = {"code": "bad_request", "detail": f'"{key}" is not a key', "pointer": f"/{key}"}
        elif self.busy > 0:
            self.busy -= 1
            answer["error"] = {"code": "busy", "detail": "4 replays are already active", "retry_after_ms": 20}
        else:
            answer.update(self.answer(request))
        self.router.send_multipart([peer, *frames[:-1], json.dumps(answer, separators=(",", ":")).encode()])

    def answer(self, request):
        if request["service"] == "snapshot":
            return self.snapshot(request)
        epoch = request.get("epoch", self.epoch)
        if request["service"] == "catalog":
            return self.past_catalog(epoch)
        if "holes" in request:
            return self.holes(request) if epoch == self.epoch else self.former_holes(request, epoch)
        if epoch != self.epoch:
            return {"error": {"code": "unknown_epoch", "detail": "another one"}}
        return self.page(request)

    def snapshot(self, request):
        newest = {self.topic_of(each): each for each in self.history}
        topics = [topic for topic in sorted(newest)
                  if topic.startswith(request["prefix"]) and topic > request.get("after", "")]
        return {"position": self.first_position + len(self.history), "samples": [newest[topic] for topic in topics[:2]],
                "end": len(topics) <= 2}

    def past_catalog(self, epoch):
        if epoch not in self.former:
            return {"error": {"code": "unknown_epoch", "detail": "another one"}}
        last_seqs = self.former[epoch]
        return {"channels": [{"topic": topic, "last_seq": seq} for topic, seq in (last_seqs or {}).items()],
                "next_epoch": self.epoch, "end": True, **({} if last_seqs is not None else {"end_known": False})}

    def page(self, request):
        """The history since any time is the whole history."""
        at = max(request.get("position", self.first_position), self.first_position) - self.first_position
        samples = [each for each in self.history[at:at + 7] if self.topic_of(each).startswith(request["prefix"])]
        return {"samples": samples, "position": self.first_position + min(at + 7, len(self.history)),
                "end": at + 7 >= len(self.history), "missed": 0}

    def holes(self, request):
        samples, gone, left = [], [], []
        for hole in request["holes"]:
            topic = hole["topic"]
            held = {each["seq"]: each for each in self.history if self.topic_of(each) == topic}
            for seq in range(hole["first_seq"], min(hole.get("last_seq", 10 ** 9), self.told.get(topic, 0)) + 1):
                if len(samples) == 5:
                    left.append({"topic": topic, "first_seq": seq, **({"last_seq": hole["last_seq"]} if "last_seq" in hole else {})})
                    break
                if seq in held:
                    samples.append(held[seq])
                else:
                    reason = "not_retained" if seq <= self.forgotten.get(topic, 0) else "dropped"
                    gone.append({"topic": topic, "first_seq": seq, "last_seq": seq, "reason": reason})
        return {"samples": samples, "gone": gone, "left": left, "end": not left}

    def former_holes(self, request, epoch):
        if self.former.get(epoch) is None:
            return {"error": {"code": "unknown_epoch", "detail": "it ended without a clean stop"}}
        gone = []
        for hole in request["holes"]:
            last = min(hole.get("last_seq", 10 ** 9), self.former[epoch].get(hole["topic"], 0))
            if hole["first_seq"] <= last:
                gone.append({"topic": hole["topic"], "first_seq": hole["first_seq"], "last_seq": last, "reason": "not_retained"})
        return {"samples": [], "gone": gone, "left": [], "end": True}
