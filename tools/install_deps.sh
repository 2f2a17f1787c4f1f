#!/usr/bin/env bash
# Installs the packages of Debian 12 or 13 needed to build and test Telegate, and the source of cpp-httplib. Does nothing
# if they are installed. Static builds also need tools/fetch_sources.sh libmodbus.
# Usage: tools/install_deps.sh [--ci] [--arm64] [--armhf]
#   --ci               adds the packages that only .ci/run needs
#   --arm64, --armhf   add compiler, libraries and emulator for the presets of that architecture
set -euo pipefail

packages=(
  # build; g++ uses make to run link-time optimization in parallel
  g++ make cmake ninja-build ccache pkg-config
  # libraries; see cmake/TelegateDependencies.cmake
  libboost-dev nlohmann-json3-dev libspdlog-dev libcli11-dev
  libsodium-dev libssl-dev libre2-dev libmodbus-dev libzstd-dev zlib1g-dev libnats-dev
  # tools/fetch_sources.sh; file is for the Debian package
  dpkg-dev file
  # tests: Catch2, ZeroMQ peers in C and Python, and network links that can be taken down. Tests with JeroMQ also need a
  # JDK and Maven, which --ci installs; without these they are skipped.
  catch2 libzmq3-dev python3 python3-zmq iproute2
  # simulated Modbus units; the server needs the serial packages for every link, and socat creates serial lines
  python3-pymodbus python3-serial python3-serial-asyncio socat
  # clients that send to the udp driver
  python3-statsd python3-influxdb
  # checks of the settings schema
  python3-jsonschema
  # a queue that perf_tool compares with, besides Boost's
  libconcurrentqueue-dev
  # the database that perf_tool compares the log with
  libsqlite3-dev
  # used in the examples of README.md and docs/how-to-plc.md
  curl jq
)
architectures=()

# for_architecture ARCHITECTURE COMPILER adds the packages of a cross build.
for_architecture() {
  architectures+=("$1")
  packages+=("$2" qemu-user-static)
  local library
  for library in libboost-dev libspdlog-dev libsodium-dev libssl-dev libre2-dev libmodbus-dev libzstd-dev zlib1g-dev libnats-dev \
    libzmq3-dev libsqlite3-dev; do
    packages+=("$library:$1")
  done
}

for option in "$@"; do
  case $option in
    --ci)
      packages+=(clang clang-format lld libclang-rt-dev llvm valgrind systemd lintian debootstrap)
      # the servers of the uplink tests, and their certificates
      packages+=(nats-server victoria-metrics influxdb openssl)
      # checks of metrics and alert rules; python3-venv is for tools/fetch_checkers.sh
      packages+=(prometheus python3-prometheus-client python3-venv python3-matplotlib)
      # readers of the container image
      packages+=(skopeo umoci)
      # tests of the page
      packages+=(chromium chromium-driver)
      # Any installed JDK and Maven are sufficient.
      command -v javac > /dev/null || packages+=(default-jdk-headless)
      command -v mvn > /dev/null || packages+=(maven)
      ;;
    --arm64) for_architecture arm64 g++-aarch64-linux-gnu ;;
    --armhf) for_architecture armhf g++-arm-linux-gnueabihf ;;
    *) echo "usage: tools/install_deps.sh [--ci] [--arm64] [--armhf]" >&2; exit 64 ;;
  esac
done

command -v dpkg-query > /dev/null || { echo "install_deps: needs Debian 12 or 13; on other systems, install these packages: ${packages[*]}" >&2; exit 69; }

# dpkg-query fails if a package is unknown; packages that it does not list count as missing.
installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n${db:Status-Status} ${Package}:${Architecture}\n' \
  "${packages[@]}" 2> /dev/null || true)
missing=()
for package in "${packages[@]}"; do
  grep -qxF "installed $package" <<< "$installed" || missing+=("$package")
done
fetch_sources=$(dirname "${BASH_SOURCE[0]}")/fetch_sources.sh
if (( ${#missing[@]} == 0 )); then
  exec "$fetch_sources" httplib
fi

as_root=()
if (( EUID != 0 )); then
  command -v sudo > /dev/null || { echo "install_deps: must run as root or with sudo installed, to install: ${missing[*]}" >&2; exit 77; }
  as_root=(sudo)
fi
echo "install_deps: installing ${missing[*]}"
for architecture in "${architectures[@]}"; do
  "${as_root[@]}" dpkg --add-architecture "$architecture"
done
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get --quiet=2 --option Dpkg::Use-Pty=0)
"${apt[@]}" update
"${apt[@]}" install --yes --no-install-recommends "${missing[@]}"
"$fetch_sources" httplib
