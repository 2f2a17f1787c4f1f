#!/usr/bin/env bash
# Builds the current commit on Debian 13 with g++ and clang, and runs all tests there. Prints how many tests ran.
# Takes about an hour on two processors. Arguments are passed to ctest.
# Usage: tools/check_debian13.sh [-R NAME] ...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

in_debian13() {
  tools/in_debian.sh trixie "$@"
}

in_debian13 tools/install_deps.sh --ci
in_debian13 bash -c 'cmake --preset linux-ninja-debug --log-level=WARNING && cmake --build --preset linux-ninja-debug'
log=$(mktemp)
trap 'rm "$log"' EXIT
in_debian13 tools/test.sh "$@" | tee "$log"
echo "=== Debian 13: $(grep -E 'tests passed' "$log"); skipped: $(grep -cE '\*\*\*Skipped' "$log" || true)"
