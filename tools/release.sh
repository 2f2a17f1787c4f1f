#!/usr/bin/env bash
# Writes the files of a release to build_release/VERSION: for each architecture the Debian packages and a static
# tarball; one container image for all; a bill of materials, the notes and checksums. A second run writes the same bytes.
# Usage: tools/release.sh VERSION [ARCHITECTURE...] [SUITE...]
#   ARCHITECTURE   amd64 (the default), or arm64 or armhf, which need install_deps.sh --arm64 or --armhf
#   SUITE          another release of Debian, such as trixie, for which there are packages too; needs root
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=${1-}
[[ -n $version ]] || { echo "usage: tools/release.sh VERSION [ARCHITECTURE...] [SUITE...]" >&2; exit 64; }
shift
architectures=()
suites=()
for word in "$@"; do
  case $word in
    amd64 | arm64 | armhf) architectures+=("$word") ;;
    *) suites+=("$word") ;;
  esac
done
(( ${#architectures[@]} > 0 )) || architectures=(amd64)
stated=$(sed -n 's/^project(telegate VERSION \([^ ]*\) .*/\1/p' CMakeLists.txt)
[[ $version == "$stated" ]] || { echo "release: version $version: CMakeLists.txt has $stated" >&2; exit 65; }
notes=$(awk -v section="## $version" '/^## / {inside = index($0, section) == 1} inside' CHANGELOG.md)
[[ -n $notes ]] || { echo "release: CHANGELOG.md has no section \"## $version\"" >&2; exit 65; }
# The time of everything in the files: that of the newest entry of the package's changelog.
SOURCE_DATE_EPOCH=$(date --date="$(sed -n 's/^ -- .*>  //p' packaging/debian/changelog | head -n 1)" +%s)
export SOURCE_DATE_EPOCH

tools/fetch_sources.sh libmodbus
out=build_release/$version
rm -rf "$out"
mkdir -p "$out"
images=()
echo "=== packages"
packaging/packages.sh "$out" "${architectures[@]}"
for suite in "${suites[@]}"; do
  echo "=== packages for $suite"
  foreign=()
  for architecture in "${architectures[@]}"; do
    [[ $architecture == amd64 ]] || foreign+=("--$architecture")
  done
  tools/in_debian.sh "$suite" tools/install_deps.sh "${foreign[@]}"
  tools/in_debian.sh "$suite" env SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" \
    packaging/packages.sh "$out" "${architectures[@]}"
  mv "build_debian/$suite/telegate/$out"/*.deb "$out"
done
for architecture in "${architectures[@]}"; do
  infix=$([[ $architecture == amd64 ]] || echo "-$architecture")
  echo "=== static build for $architecture"
  build=build_release/$architecture-static
  cmake --preset "linux-ninja$infix-embedded" --log-level=WARNING -B "$build"
  cmake --build "$build" --target gateway_app
  name=telegate-$version-linux-$architecture
  mkdir -p "$build/$name"
  strip=$(sed -n 's/^CMAKE_STRIP:FILEPATH=//p' "$build/CMakeCache.txt")
  "$strip" -o "$build/$name/gateway_app" "$build/gateway/gateway_app"
  packaging/sbom.py --notices > "$build/$name/NOTICES"
  cp LICENSE CHANGELOG.md config/embedded.ini packaging/systemd/telegate.service "$build/$name"
  tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
    --directory "$build" "$name" | gzip -9n > "$out/$name.tar.gz"
  # Images have the names of Go.
  images+=("${architecture/armhf/arm}=$build/$name/gateway_app")
done
echo "=== image, bill of materials, notes, checksums"
packaging/oci_image.py "$out/telegate-$version-image.tar" "$version" "${images[@]}"
packaging/sbom.py "$version" > "$out/telegate-$version.spdx.json"
echo "$notes" > "$out/NOTES.md"
(cd "$out" && sha256sum -- * > SHA256SUMS)
ls -l "$out"
