#!/usr/bin/env bash
# Prints where apt finds a release of Debian and its security updates, in lines "URI SUITE main". Takes the mirrors of
# this system, so that a local one is used, and Debian's on other systems.
# Usage: tools/debian_sources.sh SUITE
set -euo pipefail
own_suite=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
targets=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages')

# print_source ADDITION DEFAULT SUITE: the mirror of this system's suite with the same addition to its name.
print_source() {
  local uri
  uri=$(awk -v suite="$own_suite$1" '$2 == suite && !uri { uri = $1 } END { print uri }' <<< "$targets")
  echo "${uri:-$2} $3$1 main"
}
print_source "" http://deb.debian.org/debian "$1"
print_source -security http://deb.debian.org/debian-security "$1"
