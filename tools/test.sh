#!/usr/bin/env bash
# Builds the release and runs all its tests; arguments go to ctest.
# Usage: tools/test.sh [-R NAME] ...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/install_deps.sh
cmake --preset linux-ninja-release --log-level=WARNING
cmake --build --preset linux-ninja-release
# Most of the time tests wait.
exec ctest --preset linux-ninja-release --parallel "$((4 * $(nproc)))" --output-on-failure "$@"
