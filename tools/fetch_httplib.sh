#!/usr/bin/env bash
# Gets the source of cpp-httplib from Debian, for the preset linux-ninja-embedded: the binary package has a shared
# library only. apt checks what it gets by Debian's keys. Changes nothing but the folder.
# Usage: tools/fetch_httplib.sh [FOLDER]     default: build_httplib
set -euo pipefail
folder=${1-$(dirname "${BASH_SOURCE[0]}")/../build_httplib}
mirror=${TELEGATE_DEBIAN_MIRROR-http://deb.debian.org/debian}
keys=/usr/share/keyrings/debian-archive-keyring.gpg

[[ -e $folder/httplib.h ]] && exit 0
for needed in apt-get dpkg-source $keys; do
  command -v "$needed" > /dev/null || [[ -e $needed ]] ||
    { echo "fetch_httplib: needs $needed, which Debian has in apt, dpkg-dev and debian-archive-keyring" >&2; exit 69; }
done

scratch=$(mktemp --directory)
trap 'rm -r "$scratch"' EXIT
mkdir -p "$scratch"/{lists/partial,source} "$folder"
echo "deb-src [signed-by=$keys] $mirror bookworm main" > "$scratch/sources.list"
apt=(apt-get --quiet=2
  --option Dir::Etc::SourceList="$scratch/sources.list" --option Dir::Etc::SourceParts=/dev/null
  --option Dir::State::Lists="$scratch/lists" --option Dir::Cache="$scratch" --option APT::Sandbox::User=)
"${apt[@]}" update
cd "$scratch/source"
"${apt[@]}" source --download-only cpp-httplib
dpkg-source --no-check --extract cpp-httplib_*.dsc extracted > /dev/null
cd - > /dev/null
cp "$scratch/source/extracted/httplib.h" "$scratch/source/extracted/LICENSE" "$folder"
