#!/usr/bin/env bash
# Builds test subscribers with go-zeromq and zmq.rs, which use ZMTP 3.0, in build_zmtp_peers. Skips one if Go or Rust is
# missing. Does nothing if they exist. Usage: tools/fetch_zmtp_peers.sh
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$root/build_zmtp_peers
mkdir -p "$folder"

if [[ -x $folder/go_zeromq ]]; then
  :
elif command -v go > /dev/null; then
  (cd "$root/tests/interop/go_zeromq" && go build -o "$folder/go_zeromq" .)
else
  echo "fetch_zmtp_peers: go not found; skipping go-zeromq" >&2
fi

if [[ -x $folder/zmq_rs ]]; then
  :
elif command -v cargo > /dev/null; then
  cargo build --quiet --locked --manifest-path "$root/tests/interop/zmq_rs/Cargo.toml" --target-dir "$folder/cargo"
  cp "$folder/cargo/debug/zmq_rs" "$folder/zmq_rs"
else
  echo "fetch_zmtp_peers: cargo not found; skipping zmq.rs" >&2
fi
