#!/usr/bin/env bash
# Builds the gateway and runs it with config/gateway.ini. Arguments are passed to the gateway.
# Usage: tools/run.sh [--log-level debug] ...
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
config=$root/config/gateway.ini

"$root/tools/install_deps.sh"
(
  cd "$root"
  cmake --preset linux-ninja-release --log-level=WARNING
  cmake --build --preset linux-ninja-release --target gateway_app
)

# Prints the values of one key in one kind of section, one per line.
setting() {
  awk -v section="[$1" -v key="$2" '
    /^\[/ { inside = index($0, section) == 1 }
    inside && $1 == key { sub(/^[^=]*=[ \t]*/, ""); print }' "$config"
}

has_config=no
for argument in "$@"; do
  case "$argument" in
    --config | --config=* | -c*) has_config=yes ;;
  esac
done
if [[ $has_config == yes ]]; then
  exec "$root/build/gateway/gateway_app" "$@"
fi

for address in $(setting rest listen); do
  echo "status:      curl http://$address/status"
done
for address in $(setting publish endpoint); do
  echo "subscribers: $address"
done
for address in $(setting services endpoint); do
  echo "services:    $address"
done
echo "stop:        Ctrl-C"
# Keeps the last sequence numbers and all samples, so after a restart clients can find out what they missed. Existing
# variables and --set override it.
export TELEGATE_GATEWAY_STATE_FILE=${TELEGATE_GATEWAY_STATE_FILE-$root/build/state.json}
export TELEGATE_LOG_PATH=${TELEGATE_LOG_PATH-$root/build/log}
exec "$root/build/gateway/gateway_app" --config "$config" "$@"
