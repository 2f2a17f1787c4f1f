"""The libraries in a static gateway: TLS as a server and as a client, host names, regular expressions.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP. Needs the command openssl.
"""

import shutil
import ssl
import sys
import unittest
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "interop"))

from device_peers import DeviceTest, main  # noqa: E402
from gateway_process import DEADLINE_S  # noqa: E402
from nats_fixture import Certificates  # noqa: E402


@unittest.skipUnless(shutil.which("openssl"), "no openssl")
class TheStaticGateway(DeviceTest):
    def test_serves_its_page_and_is_read_over_https_by_name(self):
        folder = self.scratch()
        certificates = Certificates(folder)
        certificate, key = certificates.add("gateway", "DNS:localhost")
        far = self.start('[device "clock"]\ndriver = clock\n', folder, arguments=(
            "--set", f"rest.tls_certificate={certificate}", "--set", f"rest.tls_key={key}"))
        url = far.rest.replace("127.0.0.1", "localhost")
        page = urllib.request.Request(url, headers={"Accept": "text/html"})
        with urllib.request.urlopen(page, timeout=DEADLINE_S,
                                    context=ssl.create_default_context(cafile=certificates.ca)) as response:
            self.assertEqual("text/html; charset=utf-8", response.headers["Content-Type"])

        common = f"driver = http\nurl = {url}/status\ninterval_ms = 50\nbreaker_wait_ms = 100\n"
        near = self.start(f"""[device "far"]
{common}ca_file = {certificates.ca}
[channel "far/sampled"]
source = /ledger/total/sampled
[device "stranger"]
{common}[device "nowhere"]
{common.replace("localhost", "name.invalid")}""")
        self.eventually(lambda: near.value("far/sampled"), "a value", lambda: near.device("far"))
        for device, error in (("stranger", "the certificate is not trusted: unable to get local issuer certificate"),
                              ("nowhere", "name.invalid")):
            self.eventually(lambda: error in (near.device(device)["last_error"] or ""), error,
                            lambda: near.device(device))

    def test_matches_lines_with_regular_expressions(self):
        gateway = self.start("""[device "run"]
driver = exec
command = /bin/echo temperature: 21.5
format = regex
pattern = temperature: (?P<temperature>\\S+)
interval_ms = 100
""")
        self.value_becomes(gateway, "run/temperature", 21.5)


if __name__ == "__main__":
    main()
