"""Three devices flood the gateway, which has ten more threads; other devices lose nothing. Run by ctest."""

import os
import pty
import socket
import sys
import tty

from device_peers import DeviceTest, main
from gateway_process import OWN_ADDRESS

PORT = 8126
# A size at which the floods overflow the queue, and with equal shares of which `host` would lose samples.
SETTINGS = f"""[gateway]
queue_size = 2048
[device "host"]
driver = host
interval_ms = 1000
[device "gateway"]
driver = clock
interval_ms = 1000
[device "simulated"]
driver = simulated
[device "threaded%d"]
driver = exec
instances = 1..10
command = /bin/echo a=1
interval_ms = 1000
[device "exec"]
driver = exec
mode = continuous
command = /usr/bin/yes a=1 b=2
[device "serial"]
driver = serial
port = {{folder}}/port
[device "udp"]
driver = udp
listen = {OWN_ADDRESS}:{PORT}
"""
# Writes lines to its standard output endlessly, one per call: to a pty, or as datagrams.
SHOUT = """import os, sys
text = b"a=1 b=2\\n" if sys.argv[1] == "pty" else b"\\n".join(b"c%d:1|g" % i for i in range(50))
while True:
    try:
        os.write(1, text)
    except ConnectionError:
        pass
"""


class Flood(DeviceTest):
    def shout(self, kind, output):
        self.run_process([sys.executable, "-c", SHOUT, kind], stdout=output)

    def pty_in(self, folder):
        master, slave = pty.openpty()
        tty.setraw(slave)
        os.symlink(os.ttyname(slave), os.path.join(folder, "port"))
        for descriptor in (master, slave):
            self.addCleanup(os.close, descriptor)
        return master

    def test_flooding_devices_do_not_cause_losses_of_others(self):
        folder = self.scratch()
        master = self.pty_in(folder)
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(sender.close)
        sender.connect((OWN_ADDRESS, PORT))
        gateway = self.start(SETTINGS, folder)
        subscriber = self.run_process([sys.executable, "-c", "import sys, zmq\n"
                                       "socket = zmq.Context().socket(zmq.SUB)\n"
                                       "socket.subscribe(b'')\n"
                                       "socket.connect(sys.argv[1])\n"
                                       "while True: socket.recv_multipart()\n", gateway.endpoints[0]])
        self.eventually(lambda: gateway.status()["transport"]["subscriptions"] > 0, "a subscription")
        self.shout("pty", master)
        self.shout("udp", sender)

        def ledger(name):
            devices = gateway.json("/devices")["devices"]
            return next(device["ledger"] for device in devices if device["name"] == name)
        calm_before = ledger("simulated")["sampled"]
        for name in ("exec", "serial", "udp"):
            self.eventually(lambda name=name: ledger(name)["sampled"] > 5000, "a flood of " + name, gateway.status)
        self.eventually(lambda: ledger("simulated")["sampled"] > calm_before + 200, "other devices between the floods")
        self.assertIsNone(subscriber.poll())
        self.eventually(lambda: ledger("exec")["dropped"]["queue_overflow"] > 0, "an overflow")
        for name in ("host", "gateway", "simulated"):
            self.assertEqual(0, sum(ledger(name)["dropped"].values()), name)
        self.assertEqual(True, gateway.status()["ledger"]["balanced"])


if __name__ == "__main__":
    main()
