#!/usr/bin/env bash
# Builds Telegate for another architecture and runs its tests in an emulator. Programs of that architecture start in it
# only within a namespace of this script (since Linux 6.7), so nothing else on this machine changes.
# Usage: tools/test_emulated.sh arm64|armhf [--built] [CTEST_OPTION...]
#   --built   runs what was built before
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# How the kernel recognizes a program: the start of its ELF header, with a mask for the type of program.
case ${1-} in
  arm64)
    emulator=/usr/bin/qemu-aarch64-static
    magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
    ;;
  armhf)
    emulator=/usr/bin/qemu-arm-static
    magic='\x7fELF\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x28\x00'
    ;;
  *) echo "usage: tools/test_emulated.sh arm64|armhf [CTEST_OPTION...]" >&2; exit 64 ;;
esac
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
[[ -x $emulator ]] || { echo "test_emulated: $emulator not found; run tools/install_deps.sh --$1" >&2; exit 69; }
preset=linux-ninja-$1-release
shift

# Tests that an emulator cannot run.
left_out=()
while IFS='|' read -r name reason || [[ -n $name ]]; do
  [[ $name != '#'* && -n $name ]] || continue
  [[ -n $reason ]] || { echo "test_emulated: tests/emulated_left_out.txt: no reason for $name" >&2; exit 65; }
  left_out+=("$name")
done < tests/emulated_left_out.txt

if [[ ${1-} == --built ]]; then
  shift
else
  cmake --preset "$preset" --log-level=WARNING
  cmake --build --preset "$preset"
fi
folder=$(mktemp -d)
trap 'rmdir "$folder"' EXIT
unshare --user --map-root-user --mount bash -ec '
  mount -t binfmt_misc none "$0"
  printf "%s" ":telegate:M::$1:$2:$3:F" > "$0/register"
  shift 3
  exec "$@"' "$folder" "$magic" "$mask" "$emulator" \
  ctest --preset "$preset" --parallel "$((2 * $(nproc)))" --output-on-failure \
  --exclude-regex "^($(IFS='|'; echo "${left_out[*]}"))\$" "$@"
