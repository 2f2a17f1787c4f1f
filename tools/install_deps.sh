#!/usr/bin/env bash
# Installs the Debian 12 packages that Telegate is built and tested with, and the source of cpp-httplib. Does nothing if all
# are installed.
# Usage: tools/install_deps.sh [--ci]     --ci adds what only .ci/run needs.
set -euo pipefail

packages=(
  # build; with make, g++ runs the parts of link-time optimisation side by side
  g++ make cmake ninja-build ccache pkg-config
  # libraries, see cmake/TelegateDependencies.cmake
  libboost-dev nlohmann-json3-dev libspdlog-dev libcli11-dev
  libsodium-dev libssl-dev libre2-dev libmodbus-dev
  # tools/fetch_httplib.sh
  dpkg-dev
  # tests: Catch2, real ZeroMQ peers in C and Python, and links that can be cut. Those with JeroMQ also need a JDK and
  # Maven, which --ci adds, and are skipped without.
  catch2 libzmq3-dev python3 python3-zmq iproute2
  # Modbus units to read; the server needs the other two for any link, and socat makes a line
  python3-pymodbus python3-serial python3-serial-asyncio socat
  # stock clients that send to the driver udp
  python3-statsd python3-influxdb
  # the schema of the settings
  python3-jsonschema
  # what perf_tool compares the queue with, besides Boost's
  libconcurrentqueue-dev libreaderwriterqueue-dev
  # what perf_tool asks the REST server with
  wrk
  # a first look at GET /status, and what docs/how-to-plc.md shows of JSON
  curl jq
)
case "${1-}" in
  "") ;;
  --ci)
    packages+=(clang clang-format clang-tidy libclang-rt-14-dev llvm valgrind systemd lintian debootstrap)
    # Checks of metrics and alert rules; python3-venv is for tools/fetch_rest_checkers.sh.
    packages+=(prometheus python3-prometheus-client python3-venv python3-matplotlib)
    # Any JDK and Maven will do, wherever they come from.
    command -v javac > /dev/null || packages+=(default-jdk-headless)
    command -v mvn > /dev/null || packages+=(maven)
    ;;
  *) echo "usage: tools/install_deps.sh [--ci]" >&2; exit 64 ;;
esac

command -v dpkg-query > /dev/null || { echo "install_deps: needs Debian 12; install by hand: ${packages[*]}" >&2; exit 69; }

# dpkg-query fails when it knows nothing of a package; what it does not list is missing all the same.
installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "${packages[@]}" 2> /dev/null || true)
missing=()
for package in "${packages[@]}"; do
  grep -qxF "installed $package" <<< "$installed" || missing+=("$package")
done
fetch_httplib=$(dirname "${BASH_SOURCE[0]}")/fetch_httplib.sh
if (( ${#missing[@]} == 0 )); then
  exec "$fetch_httplib"
fi

as_root=()
if (( EUID != 0 )); then
  command -v sudo > /dev/null || { echo "install_deps: run as root, or install sudo: ${missing[*]}" >&2; exit 77; }
  as_root=(sudo)
fi
echo "install_deps: installing ${missing[*]}"
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get --quiet=2 --option Dpkg::Use-Pty=0)
"${apt[@]}" update
"${apt[@]}" install --yes --no-install-recommends "${missing[@]}"
"$fetch_httplib"
