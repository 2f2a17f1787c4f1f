"""A gateway at its thread limit (RLIMIT_NPROC) reports what has no thread, and the limits. Run by ctest, as root."""

import os
import re
import shutil
import signal
import subprocess
import unittest
import urllib.error

from device_peers import APP, DeviceTest, main

SETTINGS = """[device "simulated"]
driver = simulated
"""
EXEC = """[device "boiler-{}"]
driver = exec
command = /bin/true
autostart = no
"""
REFUSED = r"cannot start thread {} \(limits: TasksMax \w+, LimitNPROC {}\)"


@unittest.skipUnless(os.geteuid() == 0, "the limit applies to users other than root, and only root can switch to one")
class ThreadLimitTest(DeviceTest):
    def setUp(self):
        self.user = 100_000 + os.getpid()  # a user without other threads than those of the gateway
        self.folder = self.scratch()
        os.chmod(self.folder, 0o755)

    def become_user(self):
        for path in (self.folder, *(os.path.join(self.folder, name) for name in os.listdir(self.folder))):
            os.chown(path, self.user, self.user)
        os.setgroups([])
        os.setgid(self.user)
        os.setuid(self.user)

    def start_with_room_for(self, more):
        """Returns a gateway that can start that many threads more, and its limit."""
        program = shutil.copy(APP, self.folder)  # other users cannot run APP if it is in a private directory
        gateway = self.start(SETTINGS, folder=self.folder, executable=program, preexec_fn=self.become_user)
        limit = len(os.listdir(f"/proc/{gateway.process.pid}/task")) + more
        # From a process of the same user: root cannot do this without some of its capabilities.
        subprocess.run(["prlimit", f"--pid={gateway.process.pid}", f"--nproc={limit}:{limit}"], check=True,
                       user=self.user, group=self.user, extra_groups=[])
        return gateway, limit

    def reload(self, gateway, settings, refused):
        gateway.write(settings)
        gateway.process.send_signal(signal.SIGHUP)
        self.eventually(lambda: re.search(refused, gateway.log()), refused, gateway.log)

    def test_a_device_without_a_thread_refuses_the_reload_by_name(self):
        gateway, limit = self.start_with_room_for(1)
        self.reload(gateway, SETTINGS + EXEC.format(1) + EXEC.format(2), REFUSED.format("tg-bus-boiler-2", limit))
        self.assertEqual([each["name"] for each in gateway.status()["sampler"]["devices"]], ["simulated"])


if __name__ == "__main__":
    main()
