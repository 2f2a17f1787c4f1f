#!/usr/bin/env bash
# Installs the tools that check /openapi.json and that Debian does not have next to the builds: schemathesis and
# openapi-python-client from PyPI, and Redocly CLI from npm. Without npm, Redocly CLI is left out. Does nothing if they
# are installed. Usage: tools/fetch_rest_checkers.sh
set -euo pipefail
python_packages=(schemathesis==4.32.5 openapi-python-client==0.29.1)
node_package=@redocly/cli@2.77.0
folder="$(dirname "${BASH_SOURCE[0]}")/../build_rest_checkers"

# Whether a folder holds these packages. The list is written last, so an interrupted installation starts again.
has() {
  [[ -f $folder/$1/packages && $(< "$folder/$1/packages") == "$2" ]]
}

if ! has python "${python_packages[*]}"; then
  rm -rf "$folder/python"
  /usr/bin/python3 -m venv "$folder/python"
  "$folder/python/bin/pip" install --quiet --disable-pip-version-check "${python_packages[@]}"
  echo "${python_packages[*]}" > "$folder/python/packages"
fi

if has node "$node_package"; then
  :
elif command -v npm > /dev/null; then
  rm -rf "$folder/node"
  npm install --prefix "$folder/node" --loglevel=error --ignore-scripts --engine-strict --no-audit --no-fund "$node_package"
  echo "$node_package" > "$folder/node/packages"
else
  echo "fetch_rest_checkers: no npm in PATH, so no Redocly CLI" >&2
fi
