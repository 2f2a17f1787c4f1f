"""schemathesis asks a running gateway_app all that its /openapi.json allows, and much that it does not, and finds nothing.

Run by ctest with the program's path in TELEGATE_GATEWAY_APP, and schemathesis in PATH or in TELEGATE_SCHEMATHESIS.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

SCHEMATHESIS = os.environ.get("TELEGATE_SCHEMATHESIS") or shutil.which("schemathesis")
if not SCHEMATHESIS or not os.path.exists(SCHEMATHESIS):
    print("skipped: no schemathesis (tools/fetch_schemathesis.sh gets it)")
    sys.exit(77)

APP = os.environ["TELEGATE_GATEWAY_APP"]
DEADLINE_S = 60
SETTINGS = """sampling_interval_ms = 50
[rest]
listen = 127.0.0.1:0
[publish "tcp"]
endpoint = tcp://127.0.0.1:0
[device "simulated"]
driver = simulated
"""
# Settings are only tried, or they would change what is tested here. What the schema allows may still take a restart (409),
# be based on others (412), or name files and addresses that this machine does not have (422).
RULES = """[[operations]]
include-operation-id = "PUT_config"
parameters = { dry_run = "1" }
checks.positive_data_acceptance.expected-statuses = [200, 409, 412, 422]
"""


def find_address(log_path, process):
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end and process.poll() is None:
        with open(log_path) as file:
            found = re.search(r" running rest=(\S+)", file.read())
        if found:
            return found.group(1)
        subprocess.run(["true"], check=True)
    raise SystemExit("the gateway did not start")


def main():
    scratch = tempfile.mkdtemp(prefix="telegate-test-")
    config, log_path = os.path.join(scratch, "gateway.ini"), os.path.join(scratch, "log")
    with open(config, "w") as file:
        file.write(SETTINGS)
    rules = os.path.join(scratch, "schemathesis.toml")
    with open(rules, "w") as file:
        file.write(RULES)
    with open(log_path, "w") as log:
        gateway = subprocess.Popen([APP, "--config", config], stderr=log)
    try:
        address = find_address(log_path, gateway)
        # /stream has no end; tests/gateway/sample_stream_test.cpp looks at it. A device that somebody has stopped
        # keeps its state, so each run begins with a gateway of its own. Above 50 changes a second, all are answered 429.
        result = subprocess.run(
            [SCHEMATHESIS, "--config-file", rules, "run", f"{address}/openapi.json", "--exclude-path", "/stream",
             "--seed", "1", "--rate-limit", "40/s",
             "--max-examples", os.environ.get("TELEGATE_SCHEMATHESIS_EXAMPLES", "20"), "--request-timeout", "10",
             "--no-color"], cwd=scratch, timeout=400)
        alive = gateway.poll() is None
        print("the gateway still runs" if alive else "the gateway has ended")
        return result.returncode if alive else 1
    finally:
        gateway.terminate()
        gateway.wait(DEADLINE_S)
        shutil.rmtree(scratch)


sys.exit(main())
