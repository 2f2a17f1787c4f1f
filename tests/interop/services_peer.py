"""A running gateway_app with services, and a client socket; every reply is validated with docs/services.schema.json."""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

try:
    import jsonschema
    import zmq
except ImportError:
    print("skipped: this Python has no pyzmq or no jsonschema (Debian packages python3-zmq, python3-jsonschema)")
    sys.exit(77)

APP = os.environ["TELEGATE_GATEWAY_APP"]
SOURCE = os.environ["TELEGATE_SOURCE_DIR"]
DEADLINE_S = 60  # generous: sanitizer builds on a busy machine
CHECK_MEMORY = os.environ.get("TELEGATE_CHECK_MEMORY", "1") == "1"  # sanitizers use additional memory

with open(os.path.join(SOURCE, "docs/services.schema.json")) as file:
    SCHEMA = json.load(file)


def check(what, document):
    """Raises if it is not a "request" or an "answer"."""
    schema = {"$defs": SCHEMA["$defs"], "$ref": "#/$defs/" + what}
    jsonschema.Draft202012Validator(schema).validate(document)


def eventually(condition):
    end = time.monotonic() + DEADLINE_S
    while not condition():
        if time.monotonic() > end:
            return False
        select.select([], [], [], 0.02)  # yields the processor; nothing depends on the duration
    return True


class Gateway:
    """Can be stopped and restarted; its files are kept until close()."""

    def __init__(self, settings):
        self.folder = tempfile.mkdtemp(prefix="telegate-test-")
        self.config = os.path.join(self.folder, "gateway.ini")
        self.starts = 0
        self.write(settings)
        self.start()

    def write(self, settings):
        with open(self.config, "w") as config:
            config.write(settings.format(folder=self.folder))

    def start(self):
        self.starts += 1
        self.log_path = os.path.join(self.folder, f"log{self.starts}")
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen([APP, "--config", self.config], stderr=log)
        assert eventually(lambda: " running rest=" in self.log() or self.process.poll() is not None)
        assert self.process.poll() is None, self.log()
        self.publish = re.findall(r" publish=(\S+)", self.log())
        self.services = re.findall(r" services=(\S+)", self.log())

    def log(self):
        with open(self.log_path) as log:
            return log.read()

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(DEADLINE_S)

    def path(self, name):
        return os.path.join(self.folder, name)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)


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
