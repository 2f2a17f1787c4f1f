"""Servers in network namespaces, on links that lose everything while they are interrupted. Nobody is notified of the loss,
unlike with a connection that is closed."""

import os
import subprocess
import sys

INSIDE = "TELEGATE_CHAOS_NAMESPACE"  # is set in the namespaces that enter() creates
SET_UP = "ip link set lo up && mount -t tmpfs tmpfs /run && mkdir /run/netns && exec \"$@\""
NETWORK = "198.18.0"  # of a range for tests of networks
GATEWAY, CLIENT = f"{NETWORK}.254", f"{NETWORK}.253"


def enter():
    """Runs this program again, in a network and a mount namespace that end with it. Returns whether it is in them;
    they need root and the program ip."""
    if os.environ.pop(INSIDE, None):
        return True
    command = ["unshare", "--net", "--mount", "sh", "-c", SET_UP, "sh"]
    try:
        done = subprocess.run([*command, "ip", "netns", "add", "test"], capture_output=True, text=True, check=False)
    except OSError as error:
        print(f"links between servers are not interrupted: {error}")
        return False
    if done.returncode != 0:
        print(f"links between servers are not interrupted: {done.stderr.strip()}")
        return False
    os.environ[INSIDE] = "yes"
    os.execvp(command[0], [*command, sys.executable, "-B", *sys.argv])


def ip(*words):
    subprocess.run(["ip", *words], check=True)


class ServerLinks:
    """A bridge with a namespace for each of the servers. GATEWAY is the default source address of connections to them,
    and CLIENT another one that is never unreachable alone."""

    def __init__(self, count):
        self.addresses = [f"{NETWORK}.{number + 1}" for number in range(count)]
        ip("link", "add", "bridge", "type", "bridge")
        for address in (GATEWAY, CLIENT):
            ip("address", "add", f"{address}/24", "dev", "bridge")
        ip("link", "set", "bridge", "up")
        for number, address in enumerate(self.addresses):
            ip("netns", "add", f"n{number}")
            ip("link", "add", f"v{number}", "type", "veth", "peer", "name", "eth0", "netns", f"n{number}")
            ip("link", "set", f"v{number}", "master", "bridge", "up")
            ip("-n", f"n{number}", "address", "add", f"{address}/24", "dev", "eth0")
            ip("-n", f"n{number}", "link", "set", "eth0", "up")
            ip("-n", f"n{number}", "link", "set", "lo", "up")

    def places(self):
        """Returns the arguments of a NatsServer in each namespace."""
        return [{"address": address, "prefix": ("ip", "netns", "exec", f"n{number}"), "client_address": CLIENT}
                for number, address in enumerate(self.addresses)]

    @staticmethod
    def isolate(number):
        """Interrupts all links of the server. Returns a function that restores them."""
        ip("link", "set", f"v{number}", "down")
        return lambda: ip("link", "set", f"v{number}", "up")

    @staticmethod
    def drop(number, target):
        """Drops what the server sends to the address. Returns a function that ends this."""
        ip("-n", f"n{number}", "route", "add", "blackhole", target)
        return lambda: ip("-n", f"n{number}", "route", "del", "blackhole", target)

    def close(self):
        for number in range(len(self.addresses)):
            ip("link", "delete", f"v{number}")  # otherwise it outlives the namespace for a moment
            ip("netns", "delete", f"n{number}")
        ip("link", "delete", "bridge")
