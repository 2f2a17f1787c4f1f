"""Creates a fresh Debian root, installs a package into it, and runs programs there. Needs root and debootstrap. The
first root for a set of packages takes minutes and network access; it is kept in the build folder."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import time

MAKE_TIME_S = 540
# Files that dpkg itself keeps or writes, and paths that do not belong to packages.
NOT_COUNTED = ("var/lib/dpkg/", "var/log/", "var/cache/", "proc/", "sys/", "run/", "tmp/", "dev/")


class NoRoot(Exception):
    """A fresh root cannot be created, with the reason."""


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def mirror_and_suite():
    """Returns the package mirror and the suite of this machine."""
    targets = output("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)", "Created-By: Packages")
    with open("/etc/os-release") as file:
        suite = dict(line.strip().split("=", 1) for line in file if "=" in line).get("VERSION_CODENAME", "")
    for target in targets.splitlines():
        uri, codename = target.split()
        if codename == suite:
            return uri, suite
    raise NoRoot("apt has no package source for this system")


def provider(name):
    """Returns the installed package with this name, or one that provides it."""
    shown = output("dpkg-query", "--show", "--showformat=${Package} ${Provides}\n")
    for line in shown.splitlines():
        package, _, provided = line.partition(" ")
        if name == package or name in (each.split(" ")[0] for each in provided.split(", ")):
            return package
    raise NoRoot("package is not installed: " + name)


def kept_root(folder, packages):
    """Returns the path of a root with these packages and essential ones only; creates it if it does not exist."""
    packages = {provider(name) for name in packages}
    name = hashlib.sha256(" ".join(sorted(packages)).encode()).hexdigest()[:12]
    kept = pathlib.Path(folder) / f"fresh_root-{name}"
    if kept.exists():
        return kept
    if shutil.which("debootstrap") is None:
        raise NoRoot("debootstrap not found")
    making = pathlib.Path(f"{kept}.{os.getpid()}")
    mirror, suite = mirror_and_suite()
    try:
        made = subprocess.run(["debootstrap", "--variant=minbase", "--include=" + ",".join(sorted(packages)), suite,
                               str(making), mirror], capture_output=True, text=True, timeout=MAKE_TIME_S)
        if made.returncode != 0:
            raise NoRoot("debootstrap failed: " + made.stdout[-300:])
        shutil.rmtree(making / "var/cache/apt/archives")
        making.rename(kept)
    except subprocess.TimeoutExpired:
        raise NoRoot("debootstrap timed out") from None
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return kept


class Root:
    """A copy of a kept root."""

    def __init__(self, kept, path):
        self.path = pathlib.Path(path)
        subprocess.run(["cp", "-a", "--reflink=auto", str(kept), str(path)], check=True)

    def files(self):
        """Returns all paths that packages may have created, relative to the root."""
        found = set()
        for folder, folders, files in os.walk(self.path):
            for name in folders + files:
                path = os.path.relpath(os.path.join(folder, name), self.path)
                if not path.startswith(NOT_COUNTED):
                    found.add("/" + path)
        return found

    def run(self, *command):
        """Returns the exit code and the output of a command, which sees /proc."""
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
        script = 'mount --bind /proc "$0/proc" && exec chroot "$0" "$@"'
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script, str(self.path), *command],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, timeout=120)
        return done.returncode, done.stdout

    def start(self, command, environment, user=65534):
        """Starts a program as an ordinary user, with /proc, /sys and its own loopback interface, so that no port is in
        use."""
        script = ('mount --bind /proc "$0/proc" && mount --bind /sys "$0/sys" && ip link set lo up && '
                  f'exec chroot --userspec={user}:{user} "$0" "$@"')
        return subprocess.Popen(["unshare", "--mount", "--net", "sh", "-c", script, str(self.path), *command],
                                env={"PATH": os.environ["PATH"], **environment}, stderr=subprocess.PIPE, text=True)


def elapsed(since):
    return f"{time.monotonic() - since:.1f} s"
