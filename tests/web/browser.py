"""A browser without a window, controlled through chromedriver (W3C WebDriver, JSON over HTTP)."""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from gateway_process import eventually  # web_test has its path

DEADLINE_S = 120
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


def skip_without_browser():
    if not CHROMIUM or not DRIVER:
        print("skipped: no browser (Debian packages chromium and chromium-driver)")
        sys.exit(77)


class Browser:
    def __init__(self, size=(1280, 900)):
        self.profile = tempfile.mkdtemp(prefix="telegate-browser-")
        self.driver = subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        while "started successfully on port" not in (line := self.driver.stdout.readline()):
            if not line:
                raise AssertionError("chromedriver did not start")
        self.base = f"http://127.0.0.1:{line.split()[-1].rstrip('.')}"
        # As root, Chromium runs only without its sandbox.
        flags = ["--headless=new", f"--window-size={size[0]},{size[1]}", f"--user-data-dir={self.profile}", "--disable-gpu",
                 "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update",
                 "--hide-scrollbars", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        options = {"binary": CHROMIUM, "args": flags}
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}}, prefix="")
        self.session = made["sessionId"]
        self.messages = []

    def call(self, method, path, body=None, prefix=None):
        prefix = f"/session/{self.session}" if prefix is None else prefix
        request = urllib.request.Request(self.base + prefix + path, method=method,
                                         data=None if method != "POST" else json.dumps(body or {}).encode())
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE_S) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from error

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.profile, ignore_errors=True)

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """Runs JavaScript and returns the value that it returns; a promise is awaited."""
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def find_all(self, selector):
        return [found[ELEMENT] for found in self.call("POST", "/elements", {"using": "css selector", "value": selector})]

    def find(self, selector):
        return eventually(lambda: self.find_all(selector), selector)[0]

    def click(self, selector):
        """Clicks at the element, as a user does: it must be visible and not covered."""
        def try_to_click():
            try:
                self.call("POST", f"/element/{self.find(selector)}/click")
                return True
            except AssertionError as error:
                if "intercepted" in str(error) or "stale" in str(error) or "not interactable" in str(error):
                    return False
                raise
        eventually(try_to_click, f"element to click: {selector}")

    def type(self, selector, text):
        element = self.find(selector)
        self.call("POST", f"/element/{element}/clear")
        self.call("POST", f"/element/{element}/value", {"text": text})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector)

    def shows(self, selector, wanted):
        """Waits until the text of an element contains `wanted`."""
        try:
            eventually(lambda: wanted in self.text(selector))
        except AssertionError:
            raise AssertionError(f"{selector} does not show {wanted!r}: {self.text(selector)!r}") from None

    def screenshot(self):
        return base64.b64decode(self.call("GET", "/screenshot"))

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def console(self):
        """Returns the messages of the console since the last call."""
        return self.call("POST", "/se/log", {"type": "browser"})

    def requests(self):
        """Returns the addresses of all requests since the last call."""
        found = []
        for entry in self.call("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found
