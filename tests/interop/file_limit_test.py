"""A file size limit (RLIMIT_FSIZE) is handled like a full disk: nothing ends, and writing resumes afterwards. Run by
ctest."""

import resource
import signal

from device_peers import DeviceTest, main

SETTINGS = """[gateway]
state_file = {folder}/state
[log]
path = {folder}/log
[device "simulated"]
driver = simulated
interval_ms = 1
"""
NO_LIMIT = resource.RLIM_INFINITY


class FileLimitTest(DeviceTest):
    def limit(self, gateway, size):
        resource.prlimit(gateway.process.pid, resource.RLIMIT_FSIZE, (size, NO_LIMIT))

    def log(self, gateway):
        return gateway.status()["log"]

    def test_logs_and_a_state_file_at_the_limit_do_not_end_the_gateway(self):
        gateway = self.start(SETTINGS)
        self.eventually(lambda: self.log(gateway)["samples"] > 0, "a sample in the log")
        self.limit(gateway, 1)
        self.eventually(lambda: "too large" in (self.log(gateway)["error"] or ""), "a failure",
                        lambda: self.log(gateway))
        gateway.process.send_signal(signal.SIGHUP)  # which is logged to a file that is at the limit
        self.eventually(lambda: gateway.status()["config"]["last_reload"], "the reload")
        self.limit(gateway, NO_LIMIT)
        self.eventually(lambda: not self.log(gateway)["error"], "the log resumes")
        self.limit(gateway, 1)
        gateway.stop()
        self.assertGreaterEqual(gateway.process.returncode, 0, "killed by a signal")


if __name__ == "__main__":
    main()
