"""gateway_app as a service: notifications to the service manager, signals, logging.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP.
"""

import json
import os
import re
import signal
import unittest
import urllib.request

from daemon import DEADLINE_S, SETTINGS, Daemon, StoppedThread, eventually

WATCHDOG_S = 0.4
WATCHDOG = {"WATCHDOG_USEC": str(int(WATCHDOG_S * 1_000_000))}


class DaemonTest(unittest.TestCase):
    def start(self, *arguments, **options):
        daemon = Daemon(*arguments, **options)
        self.addCleanup(daemon.close)
        return daemon

    def stop_thread(self, daemon, name):
        number = daemon.thread(name)
        try:
            return StoppedThread(number).__enter__()
        except OSError as error:
            self.skipTest(f"ptrace is not permitted on this system: {error}")


class Notifications(DaemonTest):
    def test_it_reports_when_it_is_ready_and_when_it_stops(self):
        daemon = self.start()
        status = daemon.ready()["STATUS"]
        rest = re.fullmatch(r"running: REST at (http://127\.0\.0\.1:\d+)", status).group(1)
        with urllib.request.urlopen(rest + "/status", timeout=DEADLINE_S) as answer:
            self.assertEqual(json.load(answer)["state"], "running")
        self.assertEqual(daemon.stop(), 0)
        self.assertEqual(daemon.told_until("STOPPING")["STATUS"], "stopping")

    def test_the_status_contains_the_rest_address(self):
        for listen, told in (("listen =\nunix_socket = SCRATCH/rest", r"running: REST at unix:/\S+/rest"),
                             ("listen = 127.0.0.1:0\nunix_socket = SCRATCH/rest",
                              r"running: REST at http://127\.0\.0\.1:\d+, unix:/\S+/rest"),
                             ("listen =", "running, without REST")):
            with self.subTest(listen):
                daemon = self.start(SETTINGS.replace("listen = 127.0.0.1:0", listen))
                self.assertRegex(daemon.ready()["STATUS"], f"^{told}$")

    def test_it_is_not_ready_if_it_cannot_start(self):
        daemon = self.start(SETTINGS.replace("tcp://127.0.0.1:0", "tcp://192.0.2.1:1"))
        self.assertEqual(daemon.process.wait(DEADLINE_S), 69)
        self.assertEqual(daemon.told(0), {})

    def test_it_sends_watchdog_messages_only_if_requested_and_otherwise_the_main_thread_sleeps(self):
        daemon = self.start(environment=WATCHDOG)
        daemon.ready()
        for _ in range(4):
            self.assertEqual(daemon.told_until("WATCHDOG"), {"WATCHDOG": "1"})

        silent = self.start()
        silent.ready()
        before = self.switches(silent)
        self.assertEqual(silent.told(1.0), {})
        self.assertLessEqual(self.switches(silent) - before, 1)

    def switches(self, daemon):
        with open(f"/proc/{daemon.process.pid}/status") as status:
            return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status.read(), re.M).group(1))

    def test_it_sends_no_watchdog_message_while_a_thread_of_the_sample_path_hangs_and_names_the_thread(self):
        for name, check in (("tg-sample", "sampling: tg-sample is"), ("tg-io", "pump: tg-io has not")):
            with self.subTest(name):
                daemon = self.start(environment=WATCHDOG)
                daemon.ready()
                self.assertTrue(daemon.told_until("WATCHDOG"))
                stopped = self.stop_thread(daemon, name)
                self.assertTrue(eventually(lambda: not daemon.told_until("WATCHDOG", 5 * WATCHDOG_S)))
                stopped.__exit__()
                self.assertTrue(daemon.told_until("WATCHDOG"))
                self.assertIn(check, " ".join(daemon.statuses))
                good = f"state check={check.split(':')[0]} good=true"
                self.assertTrue(eventually(lambda: daemon.send(signal.SIGUSR2) or good in daemon.log()))
                self.assertEqual(daemon.stop(), 0)

    def test_the_status_names_a_failing_device(self):
        daemon = self.start(SETTINGS + "error_probability = 1\nerrors_before_safe = 1\n", environment=WATCHDOG)
        daemon.ready()
        warning = r"^running.*; warning: devices: simulated is in state safe"  # a busy machine may cause others before
        self.assertTrue(eventually(lambda: re.match(warning, daemon.told_until("STATUS").get("STATUS", ""))), daemon.statuses)


class Signals(DaemonTest):
    def test_a_hangup_before_it_is_ready_does_not_kill_it(self):
        def send_early():  # they are pending from before the first instruction of the daemon
            numbers = (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
            signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
            for number in numbers:
                os.kill(os.getpid(), number)

        daemon = self.start(preexec_fn=send_early)
        daemon.ready()
        self.assertIn("RELOADING", daemon.told_until("RELOADING"))
        self.assertTrue(daemon.ready())
        daemon.wait_for_line("state gateway=running")
        self.assertEqual(daemon.stop(), 0)

    def test_many_hangups_do_not_hide_a_stop(self):
        daemon = self.start()
        daemon.ready()
        for _ in range(100):
            daemon.send(signal.SIGHUP)
        daemon.send(signal.SIGTERM)

        def goes_on():
            if daemon.process.poll() is None:
                daemon.send(signal.SIGHUP)
            return daemon.process.returncode is None

        self.assertTrue(eventually(lambda: not goes_on()), "it is still processing hangups")
        self.assertEqual(daemon.process.returncode, 0)

    def test_a_second_signal_ends_it_although_a_thread_hangs(self):
        for name in ("tg-sample", "tg-io", "tg-http-0"):
            with self.subTest(name):
                daemon = self.start()
                daemon.ready()
                stopped = self.stop_thread(daemon, name)
                daemon.send(signal.SIGTERM)
                daemon.wait_for_line("stopping")
                daemon.send(signal.SIGTERM)
                daemon.wait_for_line("a thread did not stop: exiting without it")
                stopped.__exit__()
                self.assertEqual(daemon.process.wait(DEADLINE_S), 70)

    def test_a_hangup_is_reported_as_a_reload_that_ends(self):
        daemon = self.start()
        daemon.ready()
        daemon.send(signal.SIGHUP)
        self.assertGreater(int(daemon.told()["MONOTONIC_USEC"]), 0)
        self.assertEqual(daemon.told()["READY"], "1")

    def test_a_failed_reload_is_reported_until_one_succeeds(self):
        daemon = self.start()
        daemon.ready()
        for settings, count in (("log_level = loud\nqueue_sise = 1\n" + SETTINGS, "2 problems"),
                                (SETTINGS.replace("simulated", "martian"), "problem"), (SETTINGS, None)):
            with open(daemon.config, "w") as file:
                file.write(settings)
            daemon.send(signal.SIGHUP)
            status = daemon.ready()["STATUS"]
            self.assertRegex(status, r"^running: REST at http://127\.0\.0\.1:\d+")
            self.assertEqual("; settings not changed: " in status, count is not None, status)
            self.assertIn(count or "", status)

    def test_the_status_names_the_settings_that_wait_for_a_restart(self):
        daemon = self.start()
        daemon.ready()
        for settings, waits in (("io_threads = 2\n" + SETTINGS, True), (SETTINGS, False)):
            with open(daemon.config, "w") as file:
                file.write(settings)
            daemon.send(signal.SIGHUP)
            self.assertEqual(daemon.ready()["STATUS"].endswith("; waits for a restart: gateway.io_threads"), waits)

    def test_each_settings_problem_is_logged_each_time_in_one_field(self):
        daemon = self.start(arguments=("--log-format", "json"))
        daemon.ready()
        with open(daemon.config, "w") as file:
            file.write(SETTINGS + 'waveforms = sine" by=root x="y\n')
        for _ in range(2):
            daemon.send(signal.SIGHUP)
            daemon.ready()
        lines = [json.loads(line) for line in daemon.log().splitlines()]
        problems = [line for line in lines if "problem" in line]
        self.assertEqual(len(problems), 2)
        self.assertEqual({line["by"] for line in problems}, {"SIGHUP"})
        self.assertEqual(set(problems[0]), {"time", "level", "message", "problem", "by"})
        self.assertIn('" by=root x="y', problems[0]["problem"])
        self.assertEqual(len([line for line in lines if line["message"] == "settings not changed"]), 2)

    def test_usr2_logs_the_state_each_time(self):
        daemon = self.start()
        daemon.ready()
        for times in (1, 2):
            daemon.send(signal.SIGUSR2)
            daemon.wait_for_line("(?s)" + times * "check=state good=true\n.*")

    def test_usr2_logs_the_state(self):
        daemon = self.start()
        daemon.ready()
        daemon.wait_for_line("running rest=")
        daemon.send(signal.SIGUSR2)
        daemon.wait_for_line(r"state device=simulated state=measuring .*balanced=true\n")
        self.assertRegex(daemon.log(), r"state gateway=running uptime_s=\d+ queue_depth=\d+ queue_capacity=\d+")
        self.assertTrue(eventually(lambda: "state services endpoints=0 peers=0 requests=0 errors=0 " in daemon.log()))
        for check in ("state", "sampling", "pump", "endpoints", "devices"):
            daemon.wait_for_line(f"state check={check} good=true\n")

    def test_usr1_reopens_the_log_file(self):
        daemon = self.start(SETTINGS + "[logging]\nfile = SCRATCH/log\n")
        daemon.ready()
        os.rename(daemon.path("log"), daemon.path("log.1"))
        daemon.send(signal.SIGUSR1)
        daemon.wait_for_line("log file reopened", "log")
        self.assertIn("running rest=", daemon.log("log.1"))
        self.assertEqual(daemon.stop(), 0)
        self.assertIn("stopped messages=", daemon.log("log"))
        self.assertEqual(daemon.log(), "")


class Logging(DaemonTest):
    def test_with_json_each_line_is_an_object(self):
        for settings, arguments in ((SETTINGS + "[logging]\nformat = json\n", ()), (SETTINGS, ("--log-format", "json"))):
            daemon = self.start(settings, arguments)
            daemon.ready()
            self.assertEqual(daemon.stop(), 0)
            lines = [json.loads(line) for line in daemon.log().splitlines()]
            running = next(line for line in lines if line["message"] == "running")
            self.assertEqual((running["level"], running["devices"]), ("info", 1))
            self.assertGreaterEqual(running["queue"], 1024)
            self.assertRegex(running["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")

    def test_for_the_journal_each_line_has_a_priority(self):
        def stderr_of(daemon):
            with open(daemon.path("stderr"), "a") as file:
                status = os.fstat(file.fileno())
            return f"{status.st_dev}:{status.st_ino}"

        journal = {}
        daemon = self.start(environment=journal, before=lambda d: journal.update(JOURNAL_STREAM=stderr_of(d)))
        daemon.ready()
        self.assertEqual(daemon.stop(), 0)
        for line in daemon.log().splitlines():
            self.assertRegex(line, r"^<6>\d{4}-")

    def test_a_repeated_line_is_counted(self):
        daemon = self.start()
        daemon.ready()
        for _ in range(3):
            daemon.send(signal.SIGUSR1)
            daemon.send(signal.SIGUSR2)
            daemon.wait_for_line("state gateway=")
            self.assertTrue(eventually(lambda: not self.pending(daemon)))
        self.assertEqual(daemon.stop(), 0)
        told = re.findall(r"SIGUSR1 ignored: the log is written to stderr, not to a file( repeated=\d+)?", daemon.log())
        self.assertEqual(told, ["", " repeated=2"])

    def pending(self, daemon):
        with open(f"/proc/{daemon.process.pid}/status") as status:
            return int(re.search(r"^ShdPnd:\s+(\w+)", status.read(), re.M).group(1), 16)

    def test_a_log_file_that_cannot_be_opened_is_named(self):
        daemon = self.start(SETTINGS + "[logging]\nfile = /nonexistent/telegate.log\n")
        self.assertEqual(daemon.process.wait(DEADLINE_S), 69)
        self.assertIn("/nonexistent/telegate.log: No such file", daemon.log())


if __name__ == "__main__":
    unittest.main(verbosity=2)
