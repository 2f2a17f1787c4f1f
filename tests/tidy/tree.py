"""The files of the source tree that the checks of this folder apply to."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def all_files():
    """Returns paths relative to the root, without build folders and hidden folders other than .ci."""
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders
                      if name == ".ci" or name != "build" and not name.startswith((".", "build_", "__"))]
        for name in names:
            yield (Path(folder) / name).relative_to(ROOT).as_posix()


FILES = sorted(all_files())


def files(*endings, under=None):
    return [path for path in FILES
            if path.endswith(endings) and (under is None or path.split("/")[0] in under)]


def exists(path):
    return (ROOT / path).is_file()


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")
