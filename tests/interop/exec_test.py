"""The exec driver with real programs: one-shot, continuous, hanging; and processes left when the gateway ends.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP.
"""

import os
import signal
import stat

from device_peers import DeviceTest, alive, main
from gateway_process import eventually

EXEC = """[device "e"]
driver = exec
command = {folder}/program
interval_ms = 100
breaker_wait_ms = 50
breaker_wait_max_ms = 200
"""
OTHER = """[device "other"]
driver = simulated
waveforms = counter
interval_ms = 100
"""
# Records its process id, reports its start, and waits forever, like its child.
HANGS = """sleeper=$(command -v tail)
"$sleeper" -f /dev/null &
echo $! >> {folder}/pids
echo $$ >> {folder}/pids
echo there=1
wait
"""


class Exec(DeviceTest):
    def program(self, text):
        """Returns a folder that contains the script as `program`."""
        folder = self.scratch()
        path = os.path.join(folder, "program")
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + text.replace("{folder}", folder))
        os.chmod(path, stat.S_IRWXU)
        return folder

    def pids(self, folder):
        try:
            with open(os.path.join(folder, "pids")) as file:
                return [int(line) for line in file.read().split()]
        except FileNotFoundError:
            return []

    def started(self, folder, count=2):
        pids = self.eventually(lambda: len(self.pids(folder)) >= count and self.pids(folder), "a start of the program")
        for pid in pids:
            self.addCleanup(lambda pid=pid: alive(pid) and os.kill(pid, signal.SIGKILL))
        return pids

    def gone(self, pids):
        self.assertTrue(eventually(lambda: not any(map(alive, pids))), "leftover processes: " +
                        ", ".join(str(pid) for pid in pids if alive(pid)))

    def test_a_command_runs_once_per_interval(self):
        folder = self.program('echo run >> "{folder}/runs"\n'
                              'echo "temp=21.5 name=\\"a b\\" runs=$(wc -l < {folder}/runs)"\necho "on=yes" >&2\n')
        gateway = self.start(EXEC.replace("{folder}", folder) + '[channel "e/temp"]\nunit = Cel\nscale = 10\n')
        self.value_becomes(gateway, "e/temp", 215)
        self.assertEqual("Cel", gateway.latest("e/temp")["unit"])
        self.value_becomes(gateway, "e/name", "a b")
        first = self.eventually(lambda: gateway.value("e/runs"), "a number of runs")
        self.eventually(lambda: gateway.value("e/runs") >= first + 3, "more runs")
        self.assertIsNone(gateway.latest("e/on"), "standard error is not parsed")
        self.state_becomes(gateway, "e", "measuring", reads_failed=0)

    def test_a_failing_command_is_reported_with_its_status_and_its_last_output(self):
        folder = self.program('[ -e {folder}/well ] && echo temp=1 && exit 0\necho "no such bus" >&2\nexit 3\n')
        gateway = self.start(EXEC.replace("{folder}", folder))
        device = self.state_becomes(gateway, "e", "error", breaker="open")
        self.assertIn("program: exited with status 3: no such bus", device["last_error"])
        with open(os.path.join(folder, "well"), "w"):
            pass
        self.value_becomes(gateway, "e/temp", 1)
        self.state_becomes(gateway, "e", "measuring", breaker="closed")

    def test_a_continuous_command_is_read_as_it_prints_and_restarted(self):
        folder = self.program('echo $$ >> {folder}/pids\nmkfifo {folder}/pipe 2>/dev/null\n'
                              'echo "n=0"\nwhile read -r line; do echo "$line"; done < {folder}/pipe\n')
        gateway = self.start(EXEC.replace("{folder}", folder) + "mode = continuous\n")
        self.value_becomes(gateway, "e/n", 0)
        first = self.started(folder, 1)
        with open(os.path.join(folder, "pipe"), "w") as pipe:  # the program runs as long as it is open
            for number in (1, 2, 3):
                pipe.write(f"n={number}\n")
                pipe.flush()
                self.value_becomes(gateway, "e/n", number)
            self.assertEqual(first, self.pids(folder))
        self.eventually(lambda: gateway.device("e")["reads_failed"] >= 1, "its end is a failed reading")
        self.started(folder, 2)
        self.value_becomes(gateway, "e/n", 0)
        self.gone(first)

    def test_a_hanging_command_is_terminated_while_another_device_stays_on_time(self):
        folder = self.program(HANGS)
        gateway = self.start(EXEC.replace("{folder}", folder) + "timeout_ms = 300\n" + OTHER)
        device = self.state_becomes(gateway, "e", "error", breaker="open")
        self.assertIn("did not end within 300 ms", device["last_error"])
        self.gone(self.started(folder)[:2])
        self.on_time(gateway, "other", gateway.device("other"))

    def ends(self, mode, how):
        folder = self.program(HANGS)
        gateway = self.start(EXEC.replace("{folder}", folder) + f"mode = {mode}\ntimeout_ms = 1h\n")
        pids = self.started(folder)
        self.assertTrue(all(map(alive, pids)))
        gateway.stop(how)
        return pids, gateway.process.returncode

    def test_no_child_is_left_after_sigterm(self):
        for mode in ("once", "continuous"):
            with self.subTest(mode):
                pids, code = self.ends(mode, signal.SIGTERM)  # a run may take an hour
                self.assertEqual(0, code)
                self.gone(pids)

    def test_a_child_that_ignores_sigterm_is_killed(self):
        folder = self.program("trap '' TERM\n" + HANGS + HANGS.split("wait")[0] + "while :; do wait; done\n")
        gateway = self.start(EXEC.replace("{folder}", folder) + "mode = continuous\n")
        pids = self.started(folder)
        self.value_becomes(gateway, "e/there", 1)
        gateway.stop()
        self.gone(pids)

    def test_a_process_that_leaves_the_group_does_not_block_the_driver(self):
        folder = self.program('setsid tail -f /dev/null &\necho $! >> {folder}/pids\necho "n=$(wc -l < {folder}/pids)"\n')
        gateway = self.start(EXEC.replace("{folder}", folder))
        self.addCleanup(lambda: [os.kill(pid, signal.SIGKILL) for pid in self.pids(folder) if alive(pid)])
        self.eventually(lambda: (gateway.value("e/n") or 0) >= 3, "runs", lambda: gateway.device("e"))
        self.assertEqual(0, gateway.device("e")["reads_failed"])
        gateway.stop()

    def test_a_command_that_never_stops_printing_does_not_block_the_driver(self):
        folder = self.program("exec yes n=1\n")
        gateway = self.start(EXEC.replace("{folder}", folder) + "mode = continuous\n" + OTHER)
        before = gateway.device("other")
        self.value_becomes(gateway, "e/n", 1)
        self.eventually(lambda: gateway.latest("e/n")["seq"] > 10000, "many samples")
        self.on_time(gateway, "other", before)
        self.assertTrue(gateway.status()["ledger"]["balanced"])
        gateway.stop()

    def test_the_command_is_terminated_after_sigkill_of_the_gateway(self):
        for mode in ("once", "continuous"):
            with self.subTest(mode):
                pids, _ = self.ends(mode, signal.SIGKILL)
                self.gone(pids[1:])  # a service manager handles the children of the command


if __name__ == "__main__":
    main()
