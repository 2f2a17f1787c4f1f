"""Compresses the files of the gateway's own page into one file, and writes an assembly source that includes it and a
C++ source with its table: web_files.bin, web_files.S and web_files.cpp.

Usage: embed.py OUTPUT_FOLDER FILE...
"""

import gzip
import hashlib
import pathlib
import sys

BYTES_MAX = 150_000  # compressed; the page must also load quickly over a slow link
MEDIA_TYPES = {".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8",
               ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

ASSEMBLY = """    .section .rodata
    .global telegate_web_bytes
telegate_web_bytes:
    .incbin "{binary}"
    .section .note.GNU-stack, "", %progbits
"""
TABLE = """#include "web/web_files.hpp"

#include <array>

extern "C" const char telegate_web_bytes[];

namespace telegate {{

std::span<const WebFile> web_files() noexcept {{
    static const std::array<WebFile, {count}> files{{{{
{rows}    }}}};
    return files;
}}

}}  // namespace telegate
"""
ROW = '        WebFile{{"{name}", "{media_type}", "\\"{digest}\\"", {{telegate_web_bytes + {start}, {size}}}}},\n'


def main(folder, files):
    packed = b""
    rows = ""
    for file in sorted(map(pathlib.Path, files)):
        # Without a time, so that the same sources make the same program.
        content = gzip.compress(file.read_bytes(), 9, mtime=0)
        rows += ROW.format(name=file.name, media_type=MEDIA_TYPES[file.suffix], start=len(packed), size=len(content),
                           digest=hashlib.sha256(content).hexdigest()[:16])
        packed += content
    if len(packed) > BYTES_MAX:
        sys.exit(f"embed.py: the page has {len(packed)} bytes compressed: must be at most {BYTES_MAX}")
    binary = folder / "web_files.bin"
    binary.write_bytes(packed)
    (folder / "web_files.S").write_text(ASSEMBLY.format(binary=binary))
    (folder / "web_files.cpp").write_text(TABLE.format(count=len(files), rows=rows))


main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:])
