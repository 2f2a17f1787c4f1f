"""A running gateway_app with services, and a client socket; every reply is validated with docs/services.schema.json."""

import json
import os
import sys

try:
    import jsonschema
    import zmq
except ImportError:
    print("skipped: this Python has no pyzmq or no jsonschema (Debian packages python3-zmq, python3-jsonschema)")
    sys.exit(77)

from gateway_process import DEADLINE_S  # noqa: E402

SOURCE = os.environ["TELEGATE_SOURCE_DIR"]
CHECK_MEMORY = os.environ.get("TELEGATE_CHECK_MEMORY", "1") == "1"  # sanitizers use additional memory

with open(os.path.join(SOURCE, "docs/services.schema.json")) as file:
    SCHEMA = json.load(file)


def check(what, document):
    """Raises if it is not a "request" or an "answer"."""
    schema = {"$defs": SCHEMA["$defs"], "$ref": "#/$defs/" + what}
    jsonschema.Draft202012Validator(schema).validate(document)


class Asker:
    """A REQ or DEALER socket."""

    def __init__(self, endpoint, kind=zmq.DEALER, **options):
        self.socket = zmq.Context.instance().socket(kind)
        self.socket.linger, self.socket.sndtimeo = 0, DEADLINE_S * 1000  # sends never block forever
        for name, value in options.items():
            setattr(self.socket, name, value)
        self.socket.connect(endpoint)

    def send(self, document):
        self.socket.send(document if isinstance(document, bytes) else json.dumps(document).encode())

    def receive(self):
        assert self.socket.poll(DEADLINE_S * 1000), "no reply"
        answer = json.loads(self.socket.recv_multipart()[-1])
        check("answer", answer)
        return answer

    def ask(self, service, **members):
        request = {"service": service, **members}
        check("request", request)
        self.send(request)
        return self.receive()

    def refusal(self, document):
        """Returns the code, detail and pointer of an error reply."""
        self.send(document)
        error = self.receive()["error"]
        return error["code"], error["detail"], error.get("pointer")

    def close(self):
        self.socket.close()
