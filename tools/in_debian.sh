#!/usr/bin/env bash
# Runs a command in a root of another release of Debian, in a clone of the current commit. The root is kept in
# build_debian/SUITE (2 to 8 GB), with its builds. Needs root and debootstrap.
# Usage: tools/in_debian.sh SUITE COMMAND [ARGUMENT...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

suite=${1-}
[[ -n $suite && $# -gt 1 ]] || { echo "usage: tools/in_debian.sh SUITE COMMAND [ARGUMENT...]" >&2; exit 64; }
shift
(( EUID == 0 )) || { echo "in_debian: must run as root" >&2; exit 77; }
command -v debootstrap > /dev/null || { echo "in_debian: debootstrap not found; install it" >&2; exit 69; }

# The mirrors of this system, so that a local one is used.
own_suite=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
mirror_of() {
  apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' | awk -v suite="$1" '$2 == suite { print $1; exit }'
}
mirror=$(mirror_of "$own_suite")
mirror=${mirror:-http://deb.debian.org/debian}
security=$(mirror_of "$own_suite-security")

root=$PWD/build_debian/$suite
if [[ ! -d $root ]]; then
  making=$root.making
  rm -rf "$making"
  mkdir -p "$making"
  debootstrap --variant=minbase --include=ca-certificates,git "$suite" "$making" "$mirror" > "$root.log" ||
    { tail "$root.log" >&2; exit 69; }
  printf 'deb %s main\n' "$mirror $suite" "$mirror $suite-updates" \
    "${security:-http://deb.debian.org/debian-security} $suite-security" > "$making/etc/apt/sources.list"
  mv "$making" "$root"
fi
[[ -d $root/telegate ]] || git clone --quiet --no-hardlinks . "$root/telegate"
git -C "$root/telegate" fetch --quiet "$PWD" HEAD
git -C "$root/telegate" reset --quiet --hard FETCH_HEAD

exec unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" bash -ec '
  root=$0
  mount --rbind /dev "$root/dev"
  mount --rbind /sys "$root/sys"
  mount -t tmpfs tmpfs "$root/run"
  mount -t tmpfs tmpfs "$root/tmp"
  exec chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
    bash -c "cd /telegate && exec \"\$@\"" bash "$@"' "$root" "$@"
