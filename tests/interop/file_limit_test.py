"""A file size limit (RLIMIT_FSIZE) is handled like a full disk: nothing ends, and writing resumes afterwards. Run by
ctest."""

import resource
import signal

from device_peers import DeviceTest, main

SETTINGS = """[gateway]
state_file = {folder}/state
record = {folder}/all
[device "simulated"]
driver = simulated
interval_ms = 1
"""
NO_LIMIT = resource.RLIM_INFINITY


class FileLimitTest(DeviceTest):
    def limit(self, gateway, size):
        resource.prlimit(gateway.process.pid, resource.RLIMIT_FSIZE, (size, NO_LIMIT))

    def recorder(self, gateway):
        return gateway.status()["recorders"][0]

    def test_a_recording_a_log_and_a_state_file_at_the_limit_do_not_end_the_gateway(self):
        gateway = self.start(SETTINGS)
        self.eventually(lambda: self.recorder(gateway)["samples"] > 0, "a sample in the recording")
        self.limit(gateway, 1)
        self.eventually(lambda: "too large" in (self.recorder(gateway)["error"] or ""), "a failure",
                        lambda: self.recorder(gateway))
        gateway.process.send_signal(signal.SIGHUP)  # which is logged to a file that is at the limit
        self.eventually(lambda: gateway.status()["config"]["last_reload"], "the reload")
        self.limit(gateway, NO_LIMIT)
        self.eventually(lambda: not self.recorder(gateway)["error"], "the recording resumes")
        self.limit(gateway, 1)
        gateway.stop()
        self.assertGreaterEqual(gateway.process.returncode, 0, "killed by a signal")


if __name__ == "__main__":
    main()
