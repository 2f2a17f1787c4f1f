#!/usr/bin/env bash
#!/usr/bin/env bash
# Installs into build_checkers what tests need and Debian does not have: schemathesis, openapi-python-client, pyarrow,
# DuckDB, nats-py and clang-tidy (Debian's takes twice as long) from PyPI, and Redocly CLI and axe-core, which checks the
# page, from npm. Skips these if npm is missing. Does nothing if they are installed. Usage: tools/fetch_checkers.sh
set -euo pipefail
python_packages=(schemathesis==4.32.5 openapi-python-client==0.29.1 pyarrow==26.0.1 duckdb==2.0.1 nats-py==2.16.0
                 clang-tidy==23.1.4)
node_packages=(@redocly/cli@2.77.0 axe-core@4.14.1)
axe_sha256=29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c
folder="$(dirname "${BASH_SOURCE[0]}")/../build_checkers"

# Succeeds if a folder contains these packages. The list is written last, so an interrupted installation is repeated.
has() {
  [[ -f $folder/$1/packages && $(< "$folder/$1/packages") == "$2" ]]
}

if ! has python "${python_packages[*]}"; then
  rm -rf "$folder/python"
  /usr/bin/python3 -m venv "$folder/python"
  "$folder/python/bin/pip" install --quiet --disable-pip-version-check "${python_packages[@]}"
  echo "${python_packages[*]}" > "$folder/python/packages"
fi

if has node "${node_packages[*]}"; then
  :
elif command -v npm > /dev/null; then
  rm -rf "$folder/node"
  npm install --prefix "$folder/node" --loglevel=error --ignore-scripts --engine-strict --no-audit --no-fund "${node_packages[@]}"
  sha256sum --check --quiet <<< "$axe_sha256  $folder/node/node_modules/axe-core/axe.min.js"
  echo "${node_packages[*]}" > "$folder/node/packages"
else
  echo "fetch_checkers: npm not found; skipping Redocly CLI and axe-core" >&2
fi
