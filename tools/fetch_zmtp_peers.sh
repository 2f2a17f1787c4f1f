#!/usr/bin/env bash
# Builds the subscribers of go-zeromq and zmq.rs, which speak ZMTP 3.0, beside the builds, for the tests with them. Those
# for which there is no Go or Rust are left out. Does nothing when they are there. Usage: tools/fetch_zmtp_peers.sh
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$root/build_zmtp_peers
mkdir -p "$folder"

if [[ -x $folder/go_zeromq ]]; then
  :
elif command -v go > /dev/null; then
  (cd "$root/tests/interop/go_zeromq" && go build -o "$folder/go_zeromq" .)
else
  echo "fetch_zmtp_peers: no go in PATH, so no go-zeromq" >&2
fi

if [[ -x $folder/zmq_rs ]]; then
  :
elif command -v cargo > /dev/null; then
  cargo build --quiet --locked --manifest-path "$root/tests/interop/zmq_rs/Cargo.toml" --target-dir "$folder/cargo"
  cp "$folder/cargo/debug/zmq_rs" "$folder/zmq_rs"
else
  echo "fetch_zmtp_peers: no cargo in PATH, so no zmq.rs" >&2
fi
