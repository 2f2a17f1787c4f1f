"""The Debian packages: built, installed into a fresh root, run there by an ordinary user, removed and purged.

Run by ctest with TELEGATE_BUILD_DIR and TELEGATE_CPACK.
"""

import json
import os
import pathlib
import platform
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

from fresh_root import NoRoot, Root, elapsed, kept_root

BUILD = pathlib.Path(os.environ["TELEGATE_BUILD_DIR"])
IS_DEBIAN_13 = platform.freedesktop_os_release().get("VERSION_ID") == "13"
# Stripped; 45,000 of it are the page, and uplinks without their modules 150,000.
APP_BYTES_MAX = 3_600_000 if IS_DEBIAN_13 else 3_400_000
RESIDENT_KIB_MAX = 12_500 if IS_DEBIAN_13 else 11_000  # most of it is code of shared libraries
DEADLINE_S = 60
CONFIG = "/etc/telegate/gateway.ini"


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def make_packages(folder):
    """Returns the path of each package, by name."""
    made = subprocess.run([os.environ["TELEGATE_CPACK"], "-G", "DEB", "-B", folder, "--config",
                           str(BUILD / "CPackConfig.cmake")], capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    return {path.name.split("_")[0]: path for path in pathlib.Path(folder).glob("*.deb")}


def field(package, name):
    return subprocess.run(["dpkg-deb", "-f", str(package), name], check=True, capture_output=True, text=True).stdout.strip()


def dependencies(package):
    """Returns the names of the packages that a package depends on, without other packages of this project."""
    names = [re.match(r"[\w.+-]+", each.strip()).group(0) for each in field(package, "Depends").split(",")]
    return [name for name in names if not name.startswith("telegate")]


def newer(package, path):
    """Writes the same package with a later version."""
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        subprocess.run(["dpkg-deb", "-R", str(package), folder], check=True)
        control = pathlib.Path(folder) / "DEBIAN/control"
        version = field(package, "Version")
        control.write_text(control.read_text().replace(version, version + "+newer"))
        subprocess.run(["dpkg-deb", "-Znone", "--root-owner-group", "-b", folder, str(path)], check=True,
                       stdout=subprocess.DEVNULL)


def setUpModule():
    global SCRATCH, PACKAGE, UPLINK
    SCRATCH = pathlib.Path(tempfile.mkdtemp(prefix="telegate-test-"))
    unittest.addModuleCleanup(shutil.rmtree, SCRATCH)
    packages = make_packages(str(SCRATCH / "pack"))
    assert set(packages) == {"telegate", "telegate-uplink-influxdb", "telegate-uplink-nats"}, packages
    PACKAGE, UPLINK = packages["telegate"], packages["telegate-uplink-nats"]


class ThePackage(unittest.TestCase):
    def test_it_depends_on_libraries_only(self):
        names = dependencies(PACKAGE)
        self.assertIn("libc6", names)
        for name in names + dependencies(UPLINK):
            self.assertTrue(name.startswith("lib"), name)
        self.assertNotIn("libzmq5", names)
        self.assertEqual([], [name for name in names if name.startswith("libnats")])

    def test_the_uplink_belongs_to_the_same_version(self):
        self.assertIn(f"telegate (= {field(PACKAGE, 'Version')})", field(UPLINK, "Depends"))

    def test_the_program_is_small(self):
        subprocess.run(["dpkg-deb", "-x", str(PACKAGE), str(SCRATCH / "content")], check=True)
        app = SCRATCH / "content/usr/bin/gateway_app"
        print("gateway_app", app.stat().st_size, "bytes, package", PACKAGE.stat().st_size)
        self.assertNotIn(b".debug_info", app.read_bytes())
        self.assertLessEqual(app.stat().st_size, APP_BYTES_MAX)

    def test_a_gateway_at_rest_takes_little_memory(self):
        subprocess.run(["dpkg-deb", "-x", str(PACKAGE), str(SCRATCH / "rest")], check=True)
        settings = SCRATCH / "rest.ini"
        settings.write_text('[rest]\nlisten = 127.0.0.1:0\n[device "host"]\ndriver = host\n')
        app = subprocess.Popen([str(SCRATCH / "rest/usr/bin/gateway_app"), "--config", str(settings)],
                               stderr=subprocess.PIPE, text=True)
        try:
            rest = next(re.search(r" rest=(\S+)", line).group(1) for line in app.stderr if " rest=" in line)
            with urllib.request.urlopen(rest + "/status", timeout=DEADLINE_S) as response:
                self.assertTrue(json.load(response)["ledger"]["balanced"])
            status = pathlib.Path(f"/proc/{app.pid}/status").read_text()
            resident_kib = int(re.search(r"VmRSS:\s+(\d+)", status).group(1))
            print("resident", resident_kib, "KiB")
            self.assertLessEqual(resident_kib, RESIDENT_KIB_MAX)
        finally:
            app.terminate()
            app.communicate(timeout=DEADLINE_S)

    def test_links_in_its_pages_are_valid_and_examples_are_included(self):
        subprocess.run(["dpkg-deb", "-x", str(PACKAGE), str(SCRATCH / "pages")], check=True)
        folder = SCRATCH / "pages/usr/share/doc/telegate"
        links = [(page, link) for page in folder.rglob("*.md")
                 for link in re.findall(r"\[[^]]+\]\(([^)#\s]+)", page.read_text()) if "://" not in link]
        self.assertGreater(len(links), 10)
        self.assertTrue(any(page.parent.name == "drivers" for page, _ in links))
        self.assertEqual([(str(page), link) for page, link in links if not (page.parent / link).exists()], [])
        for name in ("CHANGELOG.md", "examples/embedded.ini", "examples/high_frequency.ini", "examples/cloud.ini"):
            self.assertTrue((folder / name).exists(), name)

    def test_log_files_are_rotated_and_only_the_gateway_is_signaled(self):
        content = SCRATCH / "logrotate"
        subprocess.run(["dpkg-deb", "-x", str(PACKAGE), str(content)], check=True)
        rules = (content / "etc/logrotate.d/telegate").read_text()
        self.assertTrue(rules.split("\n")[1].startswith("/var/log/telegate/*.log {"))
        self.assertIn("systemctl kill --kill-whom=main -s USR1 telegate.service\n", rules)
        conffiles = subprocess.run(["dpkg-deb", "--ctrl-tarfile", str(PACKAGE)], check=True, capture_output=True).stdout
        self.assertIn(b"/etc/logrotate.d/telegate\n", conffiles)
        texts = [page for page in content.rglob("*") if page.is_file() and page.suffix in (".md", ".service")]
        for page in [content / "etc/logrotate.d/telegate", *texts]:
            for advice in re.findall(r"systemctl kill -.*", page.read_text()):
                self.assertIn("--kill-whom=main", advice, page)

    def test_lintian_reports_no_error(self):
        if shutil.which("lintian") is None:
            self.skipTest("lintian not found")
        found = subprocess.run(["lintian", "--allow-root", "--fail-on", "error", str(PACKAGE), str(UPLINK)],
                               capture_output=True, text=True, cwd=SCRATCH)
        print(found.stdout)
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)


class InAFreshRoot(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("only root can install a package")
        began = time.monotonic()
        try:
            kept = kept_root(BUILD, dependencies(PACKAGE) + dependencies(UPLINK))
        except NoRoot as reason:
            self.skipTest(str(reason))
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="telegate-test-"))
        self.addCleanup(shutil.rmtree, self.scratch)
        self.root = Root(kept, self.scratch / "root")
        shutil.copy(PACKAGE, self.root.path / "tmp/telegate.deb")
        shutil.copy(UPLINK, self.root.path / "tmp/telegate-uplink-nats.deb")
        print("a fresh root in", elapsed(began))
        self.before = self.root.files()
        self.dpkg("-i", "/tmp/telegate.deb")

    def dpkg(self, *arguments):
        code, text = self.root.run("dpkg", *arguments)
        self.assertEqual(code, 0, text)
        return text

    def more(self):
        """Returns the paths that did not exist before the installation."""
        return sorted(self.root.files() - self.before)

    def is_there(self, path):
        return os.path.lexists(str(self.root.path) + path)

    def test_it_is_installed_enabled_and_valid(self):
        for path in ("/usr/bin/gateway_app", "/usr/bin/gateway_log", "/usr/bin/gateway_tail",
                     "/usr/bin/telegate_keygen",
                     "/usr/lib/systemd/system/telegate.service", CONFIG, "/etc/logrotate.d/telegate",
                     "/etc/telegate/conf.d", "/usr/share/man/man1/gateway_app.1.gz",
                     "/usr/share/man/man5/gateway.ini.5.gz", "/usr/share/doc/telegate/copyright",
                     "/etc/systemd/system/multi-user.target.wants/telegate.service"):
            self.assertTrue(self.is_there(path), path)
        self.assertEqual(self.root.run("/usr/bin/gateway_app", "--config", CONFIG, "--check")[0], 0)
        self.assertRegex(self.root.run("/usr/bin/gateway_app", "--version")[1], r"^telegate \d")

    def test_an_uplink_to_nats_needs_its_package(self):
        (self.root.path / "tmp/uplink.ini").write_text(
            '[log]\npath = /tmp/log\n[uplink "nats"]\nurl = nats://127.0.0.1\n')
        check = ("/usr/bin/gateway_app", "--config", "/tmp/uplink.ini", "--check")
        code, text = self.root.run(*check)
        self.assertEqual(code, 78, text)
        self.assertIn("telegate_uplink_nats.so", text)
        self.dpkg("-i", "/tmp/telegate-uplink-nats.deb")
        self.assertEqual(self.root.run(*check)[0], 0)
        self.assertTrue(self.is_there("/usr/share/man/man1/gateway_verify.1.gz"))
        self.assertEqual(self.root.run("/usr/bin/gateway_verify", "--version")[0], 0)
        self.dpkg("-P", "telegate-uplink-nats")
        self.assertFalse(self.is_there("/usr/lib/telegate"))

    def make_folders(self):
        """Creates the folders that systemd creates for the service."""
        for name in ("run/telegate", "var/lib/telegate"):
            (self.root.path / name).mkdir(parents=True)
            self.addCleanup(shutil.rmtree, self.root.path / name, ignore_errors=True)
            os.chown(self.root.path / name, 65534, 65534)

    def start_service(self, config=CONFIG):
        """Starts the gateway as systemd does, and waits until it is ready."""
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        notify = self.root.path / "run/notify"
        notify.unlink(missing_ok=True)
        manager.bind(str(notify))
        os.chmod(notify, 0o777)
        daemon = self.root.start(["/usr/bin/gateway_app", "--config", config], {"NOTIFY_SOCKET": "/run/notify"})
        self.addCleanup(daemon.stderr.close)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        self.assertTrue(select.select([manager], [], [], DEADLINE_S)[0], "no READY")
        self.assertTrue(manager.recv(4096).startswith(b"READY=1\n"))
        return daemon

    def stop_service(self, daemon):
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(DEADLINE_S), 0)

    def test_an_ordinary_user_can_run_the_shipped_service(self):
        self.make_folders()
        daemon = self.start_service()
        with open(f"/proc/{daemon.pid}/status") as status:
            self.assertIn("Uid:\t65534", status.read())
        status = self.status(daemon)
        self.assertEqual((status["state"], status["sampler"]["devices"][0]["state"]), ("running", "measuring"))
        self.assertTrue(self.is_there("/run/telegate/pub.ipc"))
        self.stop_service(daemon)
        self.assertFalse(self.is_there("/run/telegate/pub.ipc"))
        log = daemon.stderr.read()
        self.assertNotIn("warning", log)
        self.assertNotIn("error", log)

    def status(self, daemon):
        answer = subprocess.run(["nsenter", "--net", "--target", str(daemon.pid), sys.executable, "-c",
                                 "import urllib.request as r; print(r.urlopen('http://127.0.0.1:8080/status').read().decode())"],
                                capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return json.loads(answer.stdout)

    def test_an_upgrade_does_not_disturb_the_running_gateway_and_continues_its_log(self):
        for name, package in (("telegate", PACKAGE), ("telegate-uplink-nats", UPLINK)):
            newer(package, self.root.path / f"tmp/{name}-newer.deb")
        both = ("/tmp/telegate.deb", "/tmp/telegate-uplink-nats.deb")
        self.dpkg("-i", *both)
        (self.root.path / "tmp/log.ini").write_text(
            "state_file = /var/lib/telegate/state.json\n[rest]\nlisten = 127.0.0.1:8080\n"
            '[log]\npath = /var/lib/telegate/log\n[device "signals"]\ndriver = simulated\n')
        self.make_folders()
        daemon = self.start_service("/tmp/log.ini")
        before = self.status(daemon)
        self.dpkg("-i", "/tmp/telegate-newer.deb", "/tmp/telegate-uplink-nats-newer.deb")
        after = self.status(daemon)
        self.assertEqual((after["state"], after["epoch"]), ("running", before["epoch"]))
        self.stop_service(daemon)
        daemon = self.start_service("/tmp/log.ini")
        self.assertTrue(self.status(daemon)["previous_runs"][-1]["stopped_cleanly"])
        self.stop_service(daemon)
        self.dpkg("-i", *both)
        self.stop_service(self.start_service("/tmp/log.ini"))
        code, text = self.root.run("/usr/bin/gateway_log", "verify", "--json", "/var/lib/telegate/log")
        self.assertEqual((code, len(json.loads(text)["epochs"])), (0, 3), text)

    def test_changed_settings_are_kept_on_removal_and_everything_else_is_removed(self):
        config = self.root.path / CONFIG[1:]
        config.write_text("sampling_interval_ms = 5\n")
        self.dpkg("-i", "/tmp/telegate.deb")  # again, like an upgrade or a downgrade
        self.assertEqual(config.read_text(), "sampling_interval_ms = 5\n")

        self.dpkg("-r", "telegate")
        masked = "/etc/systemd/system/telegate.service"
        left = [path for path in self.more() if "/systemd/" not in path]
        self.assertEqual(left, ["/etc/logrotate.d/telegate", "/etc/telegate", CONFIG])
        self.assertEqual(os.readlink(str(self.root.path) + masked), "/dev/null")

        (self.root.path / "var/lib/private/telegate").mkdir(parents=True)
        (self.root.path / "var/lib/telegate").symlink_to("private/telegate")
        self.before |= {"/var/lib/private"}
        self.dpkg("-P", "telegate")
        self.assertEqual(self.more(), [])


if __name__ == "__main__":
    for program in ("dpkg-deb", "dpkg-shlibdeps", "unshare", "nsenter"):
        if shutil.which(program) is None:
            skip("no " + program)
    unittest.main(verbosity=2)
