#!/usr/bin/env bash
# Downloads the source of cpp-httplib 0.18.7 with Debian 13's security fixes, because Debian 12's package no longer gets
# any. apt verifies the download with Debian's keys. Writes httplib.h and httplib.cc to FOLDER, unless they exist.
# Usage: tools/fetch_httplib.sh [FOLDER]     default: build_httplib
set -euo pipefail
folder=${1-$(dirname "${BASH_SOURCE[0]}")/../build_httplib}
keys=/usr/share/keyrings/debian-archive-keyring.gpg

starts_openssl='^static SSLInit sslinit_;$'
[[ -e $folder/httplib.cc ]] && ! grep -q "$starts_openssl" "$folder/httplib.cc" && exit 0
for needed in apt-get dpkg-source python3 $keys; do
  command -v "$needed" > /dev/null || [[ -e $needed ]] ||
    { echo "fetch_httplib: cannot find $needed; install apt, dpkg-dev, python3, debian-archive-keyring" >&2; exit 69; }
done

# The mirrors of this system, so that a local one is used; "" if it is not Debian.
uri_of() {
  apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' | awk -v suite="$1" '$2 == suite { print $1; exit }'
}
suite=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
mirror=$(uri_of "$suite")
security=$(uri_of "$suite-security")

scratch=$(mktemp --directory)
trap 'rm -r "$scratch"' EXIT
mkdir -p "$scratch"/{lists/partial,source} "$folder"
printf "deb-src [signed-by=$keys] %s main\n" \
  "${mirror:-http://deb.debian.org/debian} trixie" "${security:-http://deb.debian.org/debian-security} trixie-security" \
  > "$scratch/sources.list"
apt=(apt-get --quiet=2
  --option Dir::Etc::SourceList="$scratch/sources.list" --option Dir::Etc::SourceParts=/dev/null
  --option Dir::State::Lists="$scratch/lists" --option Dir::Cache="$scratch" --option APT::Sandbox::User=)
"${apt[@]}" update
(
  cd "$scratch/source"
  "${apt[@]}" source --download-only cpp-httplib
  # apt has verified the files. --no-check skips the maintainer's signature, because that key is not installed.
  dpkg-source --no-check --extract cpp-httplib_*.dsc extracted > /dev/null
)
cp "$scratch/source/extracted/LICENSE" "$folder"
python3 "$scratch/source/extracted/split.py" --out "$scratch/split"
# OpenSSL also starts when it is first used. At the start of every program, it would take 1.8 MB of memory.
sed -i "/$starts_openssl/d" "$scratch/split/httplib.cc"
# httplib.cc is moved last, so an interrupted run is repeated.
mv "$scratch/split/httplib.h" "$folder" && mv "$scratch/split/httplib.cc" "$folder"
