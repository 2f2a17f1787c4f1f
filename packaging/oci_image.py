#!/usr/bin/env python3
"""Writes a container image of the static gateway: an OCI archive with one image per architecture.

Usage: packaging/oci_image.py OUTPUT.tar VERSION ARCHITECTURE=GATEWAY_APP...

GATEWAY_APP is a stripped gateway_app without shared libraries, ARCHITECTURE one of amd64, arm64 and arm (armhf). The
same input gives the same bytes. Load the archive with `skopeo copy oci-archive:OUTPUT.tar ...` or `podman load`.
The format is that of https://github.com/opencontainers/image-spec.
"""

import gzip
import hashlib
import io
import json
import os
import sys
import tarfile

from sbom import notices

HERE = os.path.dirname(os.path.abspath(__file__))
USER = 65534  # nobody
TIME = "1970-01-01T00:00:00Z"  # of everything in the image, so that its bytes depend on the content alone
MEDIA = "application/vnd.oci.image."
ARCHITECTURES = ("amd64", "arm64", "arm")
PROGRAM = ["/usr/bin/gateway_app", "--config", "/etc/telegate/gateway.ini"]


def json_bytes(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def add(archive, name, content=None, mode=0o755, owner=0):
    """Adds a file, or a folder if there is no content."""
    entry = tarfile.TarInfo(name)
    entry.mode, entry.uid, entry.gid = mode, owner, owner
    entry.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
    entry.size = len(content or b"")
    archive.addfile(entry, io.BytesIO(content or b""))


def compressed(data):
    """Unlike gzip.compress(), GzipFile writes the same header with every version of Python."""
    result = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=result, mtime=0) as file:
        file.write(data)
    return result.getvalue()


def layer_of(program):
    """Returns the files of an image as a tar archive."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for folder in ("etc", "etc/telegate", "etc/telegate/conf.d", "run", "usr", "usr/bin", "var", "var/lib"):
            add(archive, folder)
        for folder in ("run/telegate", "var/lib/telegate"):
            add(archive, folder, owner=USER)
        add(archive, "tmp", mode=0o1777)
        with open(os.path.join(HERE, "container.ini"), "rb") as file:
            add(archive, "etc/telegate/gateway.ini", file.read(), 0o644)
        for folder in ("usr/share", "usr/share/doc", "usr/share/doc/telegate"):
            add(archive, folder)
        add(archive, "usr/share/doc/telegate/NOTICES", "".join(notices()).encode(), 0o644)
        with open(program, "rb") as file:
            add(archive, "usr/bin/gateway_app", file.read())
    return data.getvalue()


class Blobs:
    """The content of the archive, by digest."""

    def __init__(self):
        self.content = {}

    def add(self, kind, data):
        digest = hashlib.sha256(data).hexdigest()
        self.content["blobs/sha256/" + digest] = data
        return {"mediaType": MEDIA + kind, "digest": "sha256:" + digest, "size": len(data)}


def add_image(blobs, architecture, program, labels):
    platform = {"architecture": architecture, "os": "linux"} | ({"variant": "v7"} if architecture == "arm" else {})
    layer = layer_of(program)
    config = platform | {
        "created": TIME,
        "config": {"User": f"{USER}:{USER}", "Entrypoint": PROGRAM[:1], "Cmd": PROGRAM[1:], "StopSignal": "SIGTERM",
                   "Volumes": {"/var/lib/telegate": {}}, "ExposedPorts": {"5556/tcp": {}, "5557/tcp": {}},
                   "Labels": labels,
                   # Docker's extension: nanoseconds
                   "Healthcheck": {"Test": ["CMD", *PROGRAM, "--health"], "Interval": 30_000_000_000,
                                   "Timeout": 5_000_000_000, "StartPeriod": 5_000_000_000}},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
        "history": [{"created": TIME, "created_by": "packaging/oci_image.py"}]}
    manifest = {"schemaVersion": 2, "mediaType": MEDIA + "manifest.v1+json", "annotations": labels,
                "config": blobs.add("config.v1+json", json_bytes(config)),
                "layers": [blobs.add("layer.v1.tar+gzip", compressed(layer))]}
    return blobs.add("manifest.v1+json", json_bytes(manifest)) | {"platform": platform}


def main(output, version, *programs):
    programs = sorted(each.split("=", 1) for each in programs)
    architectures = [architecture for architecture, _ in programs]
    for each in architectures:
        if each not in ARCHITECTURES:
            sys.exit(f"oci_image: unknown architecture: {each!r}; must be one of {', '.join(ARCHITECTURES)}")
        if architectures.count(each) > 1:
            sys.exit(f"oci_image: duplicate architecture: {each}")
    labels = {"org.opencontainers.image.title": "telegate", "org.opencontainers.image.version": version,
              "org.opencontainers.image.licenses": "MIT",
              "org.opencontainers.image.description": "Telemetry gateway daemon"}
    blobs = Blobs()
    images = [add_image(blobs, *each, labels) for each in programs]
    index = blobs.add("index.v1+json", json_bytes({
        "schemaVersion": 2, "mediaType": MEDIA + "index.v1+json", "manifests": images, "annotations": labels}))
    index["annotations"] = {"org.opencontainers.image.ref.name": version}
    files = {"oci-layout": json_bytes({"imageLayoutVersion": "1.0.0"}),
             "index.json": json_bytes({"schemaVersion": 2, "manifests": [index]})} | blobs.content
    with tarfile.open(output, "w", format=tarfile.USTAR_FORMAT) as archive:
        for folder in ("blobs", "blobs/sha256"):
            add(archive, folder)
        for name in sorted(files):
            add(archive, name, files[name], 0o644)


if __name__ == "__main__":
    if len(sys.argv) < 4 or any("=" not in each for each in sys.argv[3:]):
        sys.exit(__doc__)
    main(*sys.argv[1:])
