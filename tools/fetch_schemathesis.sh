#!/usr/bin/env bash
# Gets schemathesis, which Debian does not have, into a virtual environment beside the builds, for the test of
# /openapi.json. Does nothing when it is there. Usage: tools/fetch_schemathesis.sh
set -euo pipefail
version=4.32.5
folder="$(dirname "${BASH_SOURCE[0]}")/../build_schemathesis/$version"

if [[ ! -x $folder/bin/schemathesis ]]; then
  /usr/bin/python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet "schemathesis==$version"
fi
