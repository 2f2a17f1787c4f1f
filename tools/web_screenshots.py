#!/usr/bin/env python3
"""Makes the pictures in docs/dashboard.md from a running gateway. They are smaller if python3-pil is installed.

Usage: tools/web_screenshots.py URL FOLDER [CHANNEL...]    for example http://127.0.0.1:8080 docs simulated/sine
"""

import pathlib
import sys
import urllib.parse

try:
    from PIL import Image
except ImportError:
    Image = None

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "web"))
from browser import Browser, eventually, skip_without_browser  # noqa: E402

DESKTOP, PHONE = (1280, 940), (390, 844)


def take(browser, url, file, settled):
    browser.open("about:blank")
    browser.open(url)
    eventually(lambda: browser.run(settled), "content")
    browser.run("return new Promise(done => setTimeout(done, 8000))")  # rates and sparklines need several readings
    file.write_bytes(browser.screenshot())
    if Image:
        Image.open(file).convert("RGB").quantize(160, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"{file}: {file.stat().st_size} bytes")


def main(url, folder, *channels):
    skip_without_browser()
    overview = f"{url}/#/overview"
    chart = f"{url}/#/channels?" + urllib.parse.urlencode([("q", channels[0].split("/")[0]), *(("c", each) for each in channels)])
    has_rows = "return document.querySelectorAll('main tbody tr').length > 2"
    for name, size, dark, address in (("overview", DESKTOP, False, overview), ("chart", DESKTOP, False, chart),
                                      ("chart-dark", DESKTOP, True, chart), ("phone", PHONE, False, overview)):
        browser = Browser(size)
        try:
            browser.devtools("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=size == PHONE)
            browser.devtools("Emulation.setEmulatedMedia",
                             features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
            take(browser, address, pathlib.Path(folder) / f"dashboard-{name}.png", has_rows)
        finally:
            browser.close()


if len(sys.argv) < 4:
    sys.exit(__doc__)
main(*sys.argv[1:])
