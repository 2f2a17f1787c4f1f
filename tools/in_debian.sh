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

root=$PWD/build_debian/$suite
if [[ ! -d $root ]]; then
  making=$root.making
  rm -rf "$making"
  mkdir -p "$making"
  sources=$(tools/debian_sources.sh "$suite")
  debootstrap --variant=minbase --include=ca-certificates,git "$suite" "$making" "${sources%% *}" > "$root.log" ||
    { tail "$root.log" >&2; exit 69; }
  sed 's/^/deb /' <<< "$sources" > "$making/etc/apt/sources.list"
  mv "$making" "$root"
fi
[[ -d $root/telegate ]] || git clone --quiet --no-hardlinks . "$root/telegate"
git -C "$root/telegate" fetch --quiet "$PWD" HEAD
git -C "$root/telegate" reset --quiet --hard FETCH_HEAD

exec unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" bash -ec '
  root=$0
  mount --rbind "$root" "$root"  # so that commands can change its mounts
  mount --rbind /dev "$root/dev"
  mount --rbind /sys "$root/sys"
  mount -t tmpfs tmpfs "$root/run"
  mount -t tmpfs tmpfs "$root/tmp"
  exec chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
    bash -c "cd /telegate && exec \"\$@\"" bash "$@"' "$root" "$@"
