#!/usr/bin/env bash
# Builds the Debian packages for the release of Debian on which it runs, with their symbols. A second run writes the
# same bytes if SOURCE_DATE_EPOCH is the same.
# Usage: packaging/packages.sh OUT ARCHITECTURE...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=$1
shift
mkdir -p "$out"
for architecture in "$@"; do
  build=build_release/$architecture
  infix=$([[ $architecture == amd64 ]] || echo "-$architecture")
  cmake --preset "linux-ninja$infix-release" --log-level=WARNING -B "$build" -DTELEGATE_TESTS=OFF \
    -DTELEGATE_PERF_TOOL=OFF -DCMAKE_CXX_FLAGS_RELEASE="-O3 -DNDEBUG -g1 -ffile-prefix-map=$PWD=."
  cmake --build "$build"
  rm -rf "$build/packages"
  DEB_HOST_ARCH=$architecture cpack -G DEB --config "$build/CPackConfig.cmake" -B "$build/packages" \
    > "$build/cpack.log" || { cat "$build/cpack.log" >&2; exit 1; }
  OBJCOPY=$(sed -n 's/^CMAKE_OBJCOPY:FILEPATH=//p' "$build/CMakeCache.txt")
  export OBJCOPY
  packaging/dbgsym.sh "$build"/packages/telegate_*.deb "$build"/gateway/gateway_app \
    "$build"/tools/{gateway_log,gateway_tail,telegate_keygen}
  for module in "$build"/gateway/telegate_uplink_*.so; do
    type=$(basename "$module" .so)
    type=${type#telegate_uplink_}
    tools=()
    [[ $type != nats ]] || tools=("$build"/tools/gateway_verify)
    packaging/dbgsym.sh "$build"/packages/telegate-uplink-"$type"_*.deb "$module" "${tools[@]}"
  done
  mv "$build"/packages/*.deb "$out"
done
