"""The container image: written twice, read by skopeo and umoci, and run in a chroot like a container.

Environment: TELEGATE_GATEWAY_APP, a static build; TELEGATE_SOURCE_DIR.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from pathlib import Path

APP = os.environ["TELEGATE_GATEWAY_APP"]
WRITER = os.environ["TELEGATE_SOURCE_DIR"] + "/packaging/oci_image.py"
VERSION = "1.2.3"
IMAGE_BYTES_MAX = 8_000_000
DEADLINE_S = 60
NOBODY = 65534


def run(*command, **options):
    return subprocess.run([str(each) for each in command], capture_output=True, text=True, timeout=DEADLINE_S, **options)


def output(*command):
    done = run(*command)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


class TheImage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = Path(tempfile.mkdtemp(prefix="telegate-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        output("strip", "-o", cls.scratch / "gateway_app", APP)
        cls.image = cls.write("image.tar")

    @classmethod
    def write(cls, name, architectures=("amd64",)):
        programs = [f"{each}={cls.scratch}/gateway_app" for each in architectures]
        output(sys.executable, "-B", WRITER, cls.scratch / name, VERSION, *programs)
        return cls.scratch / name

    def test_has_the_same_bytes_when_it_is_written_again_and_is_small(self):
        self.assertEqual(self.image.read_bytes(), self.write("again.tar").read_bytes())
        print("image", self.image.stat().st_size, "bytes")
        self.assertLessEqual(self.image.stat().st_size, IMAGE_BYTES_MAX)

    def test_is_refused_without_a_program(self):
        self.assertEqual(1, run(sys.executable, "-B", WRITER, "a.tar", VERSION, "amd64").returncode)

    def test_is_refused_for_an_unknown_and_for_a_duplicate_architecture(self):
        for architectures, what in ((("armhf",), "unknown architecture: 'armhf'"),
                                    (("arm", "arm"), "duplicate architecture: arm")):
            with self.subTest(architectures), self.assertRaisesRegex(AssertionError, what):
                self.write("refused.tar", architectures)

    @unittest.skipUnless(shutil.which("skopeo"), "skopeo not found")
    def test_names_version_user_command_and_platforms_for_other_tools(self):
        several = self.write("several.tar", ("arm64", "amd64", "arm"))
        index = json.loads(output("skopeo", "inspect", "--raw", f"oci-archive:{several}"))
        self.assertEqual([("amd64", None), ("arm", "v7"), ("arm64", None)],
                         [(each["platform"]["architecture"], each["platform"].get("variant"))
                          for each in index["manifests"]])
        shown = json.loads(output("skopeo", "inspect", f"oci-archive:{self.image}"))
        self.assertEqual(("amd64", "linux", VERSION), (shown["Architecture"], shown["Os"],
                                                       shown["Labels"]["org.opencontainers.image.version"]))
        config = json.loads(output("skopeo", "inspect", "--config", f"oci-archive:{self.image}"))["config"]
        self.assertEqual("65534:65534", config["User"])
        self.assertEqual(["/usr/bin/gateway_app"], config["Entrypoint"])

    @unittest.skipUnless(shutil.which("umoci") and os.geteuid() == 0, "umoci not found, or not root")
    def test_runs_as_an_ordinary_user_on_a_read_only_root(self):
        layout = self.scratch / "layout"
        with tarfile.open(self.image) as archive:
            archive.extractall(layout)
        bundle = self.scratch / "bundle"
        output("umoci", "unpack", "--image", f"{layout}:{VERSION}", bundle)
        config = json.loads((bundle / "config.json").read_text())
        self.assertEqual(NOBODY, config["process"]["user"]["uid"])
        command = config["process"]["args"]
        self.assertEqual(["/usr/bin/gateway_app", "--config", "/etc/telegate/gateway.ini"], command)
        root = bundle / "rootfs"
        with subprocess.Popen(["unshare", "--mount", "--net", "sh", "-ec", 'mount --bind -r "$0" "$0"\n'
                               f'mount -t tmpfs -o uid={NOBODY} none "$0/var/lib/telegate"\nip link set lo up\n'
                               f'exec chroot --userspec={NOBODY}:{NOBODY} "$0" "$@"', str(root), *command],
                              stderr=subprocess.PIPE, text=True) as gateway:
            try:
                deadline = time.monotonic() + DEADLINE_S
                health = None
                while (health is None or health.returncode != 0) and time.monotonic() < deadline:
                    health = run("nsenter", "--net", "--mount", "--target", gateway.pid, "chroot",
                                 f"--userspec={NOBODY}:{NOBODY}", root, *command, "--health")
                self.assertEqual((0, ""), (health.returncode, health.stderr))
                self.assertIn("[+] log ok", health.stdout)
                status = Path(f"/proc/{gateway.pid}/status").read_text()
                self.assertIn(f"Uid:\t{NOBODY}\t", status)
            finally:
                gateway.terminate()
                log = gateway.communicate(timeout=DEADLINE_S)[1]
        self.assertEqual(0, gateway.returncode, log)
        self.assertNotIn("error", log)


if __name__ == "__main__":
    unittest.main(verbosity=2)
