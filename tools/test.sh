#!/usr/bin/env bash
# Builds the release and runs all tests. Arguments are passed to ctest.
# Usage: tools/test.sh [-R NAME] ...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/install_deps.sh
cmake --preset linux-ninja-release --log-level=WARNING
cmake --build --preset linux-ninja-release
# More jobs than processors, because tests wait most of the time.
exec ctest --preset linux-ninja-release --parallel "$((4 * $(nproc)))" --output-on-failure "$@"
