#!/usr/bin/env bash
# Writes the files of a release to build_release/VERSION: for each architecture the Debian packages and a static
# tarball; one container image for all; a bill of materials, the notes and checksums. The packages are for the release
# of Debian on which it runs. A second run writes the same bytes.
# Usage: tools/release.sh VERSION [ARCHITECTURE...]
#   ARCHITECTURE   amd64 (the default) or arm64, which needs install_deps.sh --arm64
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=${1-}
[[ -n $version ]] || { echo "usage: tools/release.sh VERSION [ARCHITECTURE...]" >&2; exit 64; }
shift
architectures=("${@:-amd64}")
stated=$(sed -n 's/^project(telegate VERSION \([^ ]*\) .*/\1/p' CMakeLists.txt)
[[ $version == "$stated" ]] || { echo "release: version $version: CMakeLists.txt has $stated" >&2; exit 65; }
notes=$(awk -v section="## $version" '/^## / {inside = index($0, section) == 1} inside' CHANGELOG.md)
[[ -n $notes ]] || { echo "release: CHANGELOG.md has no section \"## $version\"" >&2; exit 65; }
# The time of everything in the files: that of the newest entry of the package's changelog.
SOURCE_DATE_EPOCH=$(date --date="$(sed -n 's/^ -- .*>  //p' packaging/debian/changelog | head -n 1)" +%s)
export SOURCE_DATE_EPOCH

out=build_release/$version
rm -rf "$out"
mkdir -p "$out"
images=()
for architecture in "${architectures[@]}"; do
  infix=$([[ $architecture == amd64 ]] || echo "-$architecture")
  echo "=== packages for $architecture"
  build=build_release/$architecture
  cmake --preset "linux-ninja$infix-release" --log-level=WARNING -B "$build" -DTELEGATE_TESTS=OFF \
    -DTELEGATE_PERF_TOOL=OFF -DCMAKE_CXX_FLAGS_RELEASE="-O3 -DNDEBUG -g1 -ffile-prefix-map=$PWD=."
  cmake --build "$build"
  DEB_HOST_ARCH=$architecture cpack -G DEB --config "$build/CPackConfig.cmake" -B "$build/packages" \
    > "$build/cpack.log" || { cat "$build/cpack.log" >&2; exit 1; }
  mv "$build"/packages/*.deb "$out"
  OBJCOPY=$(sed -n 's/^CMAKE_OBJCOPY:FILEPATH=//p' "$build/CMakeCache.txt")
  export OBJCOPY
  packaging/dbgsym.sh "$out/telegate_${version}_$architecture.deb" "$build"/gateway/gateway_app \
    "$build"/tools/{gateway_log,gateway_tail,telegate_keygen}
  packaging/dbgsym.sh "$out/telegate-uplink-nats_${version}_$architecture.deb" \
    "$build"/gateway/telegate_uplink_nats.so "$build"/tools/gateway_verify

  echo "=== static build for $architecture"
  build=build_release/$architecture-static
  cmake --preset "linux-ninja$infix-embedded" --log-level=WARNING -B "$build"
  cmake --build "$build" --target gateway_app
  name=telegate-$version-linux-$architecture
  mkdir -p "$build/$name"
  strip=$(sed -n 's/^CMAKE_STRIP:FILEPATH=//p' "$build/CMakeCache.txt")
  "$strip" -o "$build/$name/gateway_app" "$build/gateway/gateway_app"
  cp LICENSE CHANGELOG.md config/embedded.ini packaging/systemd/telegate.service "$build/$name"
  tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
    --directory "$build" "$name" | gzip -9n > "$out/$name.tar.gz"
  images+=("$architecture=$build/$name/gateway_app")
done
echo "=== image, bill of materials, notes, checksums"
packaging/oci_image.py "$out/telegate-$version-image.tar" "$version" "${images[@]}"
packaging/sbom.py "$version" > "$out/telegate-$version.spdx.json"
echo "$notes" > "$out/NOTES.md"
(cd "$out" && sha256sum -- * > SHA256SUMS)
ls -l "$out"
