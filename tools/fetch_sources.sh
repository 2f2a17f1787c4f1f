#!/usr/bin/env bash
# Downloads sources of Debian packages that the build compiles. apt verifies them with Debian's keys. Each source is
# written to a folder build_NAME, unless that exists.
#   httplib    cpp-httplib 0.18.7 with Debian 13's security fixes, because Debian 12's package no longer gets any
#   libmodbus  the version of this system, for static builds, because the package has only a shared library
# Usage: tools/fetch_sources.sh [NAME...]     default: all
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
keys=/usr/share/keyrings/debian-archive-keyring.gpg
scratch=$(mktemp --directory)
trap 'rm -r "$scratch"' EXIT

own_suite=$(. /etc/os-release && echo "${VERSION_CODENAME-}")

# fetch PACKAGE SUITE extracts the source of a package to $scratch/PACKAGE.
fetch() {
  local package=$1 suite=$2 needed
  for needed in apt-get dpkg-source python3 $keys; do
    command -v "$needed" > /dev/null || [[ -e $needed ]] ||
      { echo "fetch_sources: cannot find $needed; install apt, dpkg-dev, python3, debian-archive-keyring" >&2; exit 69; }
  done
  rm -rf "$scratch/apt"
  mkdir -p "$scratch"/apt/{lists/partial,source}
  tools/debian_sources.sh "$suite" | sed "s|^|deb-src [signed-by=$keys] |" > "$scratch/apt/sources.list"
  local apt=(apt-get --quiet=2
    --option Dir::Etc::SourceList="$scratch/apt/sources.list" --option Dir::Etc::SourceParts=/dev/null
    --option Dir::State::Lists="$scratch/apt/lists" --option Dir::Cache="$scratch/apt" --option APT::Sandbox::User=)
  "${apt[@]}" update
  (
    cd "$scratch/apt/source"
    "${apt[@]}" source --download-only "$package"
    # apt has verified the files. --no-check skips the maintainer's signature, because that key is not installed.
    dpkg-source --no-check --extract "$package"_*.dsc "$scratch/$package" > /dev/null
  )
}

starts_openssl='^static SSLInit sslinit_;$'
fetch_httplib() {
  [[ -e build_httplib/httplib.cc ]] && ! grep -q "$starts_openssl" build_httplib/httplib.cc && return
  fetch cpp-httplib trixie
  mkdir -p build_httplib
  cp "$scratch/cpp-httplib/LICENSE" build_httplib
  python3 "$scratch/cpp-httplib/split.py" --out "$scratch/split"
  # OpenSSL also starts when it is first used. At the start of every program, it would take 1.8 MB of memory.
  sed -i "/$starts_openssl/d" "$scratch/split/httplib.cc"
  # httplib.cc is moved last, so an interrupted run is repeated.
  mv "$scratch/split/httplib.h" build_httplib && mv "$scratch/split/httplib.cc" build_httplib
}

fetch_libmodbus() {
  [[ -e build_libmodbus ]] && return
  fetch libmodbus "${own_suite:-bookworm}"
  cp -r "$scratch/libmodbus/src" "$scratch/build_libmodbus"
  cp "$scratch/libmodbus/COPYING.LESSER" "$scratch/build_libmodbus"
  mv "$scratch/build_libmodbus" .
}

(( $# > 0 )) || set -- httplib libmodbus
for name in "$@"; do
  case $name in
    httplib | libmodbus) "fetch_$name" ;;
    *) echo "usage: tools/fetch_sources.sh [httplib] [libmodbus]" >&2; exit 64 ;;
  esac
done
