#!/usr/bin/env bash
# Writes the package of the debug symbols of a package next to it. The programs are those of the package, not stripped.
# Usage: packaging/dbgsym.sh PACKAGE.deb PROGRAM...     OBJCOPY: the program for another architecture
set -euo pipefail
package=$1
shift
field() { dpkg-deb --field "$package" "$1"; }
name=$(field Package)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"

ids=()
for program in "$@"; do
  id=$(readelf --notes "$program" | sed -n 's/^ *Build ID: //p')
  file=usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
  install -d "$root/${file%/*}" "$root/DEBIAN"
  "${OBJCOPY:-objcopy}" --only-keep-debug --compress-debug-sections "$program" "$root/$file"
  chmod 644 "$root/$file"
  (cd "$root" && md5sum "$file" >> DEBIAN/md5sums)
  ids+=("$id")
done
install -d "$root/usr/share/doc"
ln -s "$name" "$root/usr/share/doc/$name-dbgsym"
cat > "$root/DEBIAN/control" << CONTROL
Package: $name-dbgsym
Source: telegate
Version: $(field Version)
Auto-Built-Package: debug-symbols
Architecture: $(field Architecture)
Maintainer: $(field Maintainer)
Depends: $name (= $(field Version))
Section: debug
Priority: optional
Description: debug symbols for $name
Build-Ids: ${ids[*]}
CONTROL
dpkg-deb --root-owner-group -Zxz --build "$root" "${package/$name/$name-dbgsym}" > /dev/null
