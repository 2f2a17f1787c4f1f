#!/usr/bin/env python3
"""Prints the bill of materials of a release as SPDX 2.3: Telegate and the libraries that it is linked with. Or the
copyright notices of the libraries in the static build.

Usage: SOURCE_DATE_EPOCH=SECONDS packaging/sbom.py VERSION
       packaging/sbom.py --notices
The versions are those of the Debian packages installed on this machine, on which the release was built.
"""

import datetime
import json
import os
import subprocess
import sys

# Debian package with the library or its headers, license, how it is linked
LIBRARIES = (
    ("libc6-dev", "LGPL-2.1-or-later", "shared; archive in the static build"),
    ("libboost-dev", "BSL-1.0", "headers"),
    ("nlohmann-json3-dev", "MIT", "headers"),
    ("libcli11-dev", "BSD-3-Clause", "headers"),
    ("libspdlog-dev", "MIT", "shared; headers in the static build"),
    ("libfmt-dev", "MIT", "shared; headers in the static build"),
    ("libsodium-dev", "ISC", "shared; archive in the static build"),
    ("libzstd-dev", "BSD-3-Clause", "shared; archive in the static build"),
    ("libssl-dev", "Apache-2.0", "shared; archive in the static build"),
    ("libre2-dev", "BSD-3-Clause", "shared; archive in the static build"),
    ("libmodbus-dev", "LGPL-2.1-or-later", "shared; compiled into the static build"),
    ("libnats-dev", "Apache-2.0", "shared, by gateway_verify"),
)


def notices():
    for name, _, linked in LIBRARIES:
        if linked.endswith(("headers", "static build")):
            with open(f"/usr/share/doc/{name}/copyright") as file:
                yield f"==== {name}\n\n{file.read()}\n"


def package(name, version, license_id, **more):
    return {"SPDXID": "SPDXRef-" + name, "name": name, "versionInfo": version, "licenseConcluded": license_id,
            "licenseDeclared": license_id, "copyrightText": "NOASSERTION", "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, **more}


def installed_versions():
    shown = subprocess.run(["dpkg-query", "--show", "--showformat=${Package} ${Version}\n"], check=True,
                           capture_output=True, text=True).stdout
    return dict(line.split(" ", 1) for line in shown.splitlines())


def main(version):
    versions = installed_versions()
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    libraries = [package(name, versions[name], license_id, comment=linked, externalRefs=[
        {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
         "referenceLocator": f"pkg:deb/debian/{name}@{versions[name]}"}]) for name, license_id, linked in LIBRARIES]
    describes = {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                 "relatedSpdxElement": "SPDXRef-telegate"}
    depends = [{"spdxElementId": "SPDXRef-telegate", "relationshipType": "DEPENDS_ON",
                "relatedSpdxElement": each["SPDXID"]} for each in libraries]
    print(json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": "telegate-" + version, "documentNamespace": "https://telegate.example.org/spdx/" + version,
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: packaging/sbom.py"]},
        "packages": [package("telegate", version, "MIT"), *libraries],
        "relationships": [describes, *depends]}, indent=1))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--notices":
        print(*notices(), sep="", end="")
    else:
        main(sys.argv[1])
