"""schemathesis sends a running gateway_app requests that its /openapi.json allows, and many that it forbids.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP and the folder of the tools in TELEGATE_CHECKERS.
"""

import os
import subprocess
import sys

from device_peers import Gateway

SCHEMATHESIS = os.path.join(os.environ["TELEGATE_CHECKERS"], "python", "bin", "schemathesis")
if not os.path.exists(SCHEMATHESIS):
    print("skipped: no schemathesis (tools/fetch_checkers.sh installs it)")
    sys.exit(77)

SETTINGS = """[gateway]
sampling_interval_ms = 50
[device "simulated"]
driver = simulated
"""
# Settings are only checked, because applying them would change the gateway under test. Settings allowed by the schema
# may still require a restart (409), be based on other settings (412), or name files and addresses that this machine
# does not have, or keys of another driver (422). On a busy machine, a gateway may not respond in time (503). A pattern
# cannot express which days a month has, which years a time can have, and which parameters exclude each other.
RULES = """[checks]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 503]
[[operations]]
include-operation-id = ["PUT_config", "PATCH_config"]
parameters = { dry_run = "1" }
checks.positive_data_acceptance.expected-statuses = [200, 409, 412, 422, 503]
[[operations]]
include-operation-id = "GET_events"
checks.positive_data_acceptance.expected-statuses = [200, 422]
[[operations]]
include-operation-id = "POST_config_rollback"
parameters = { dry_run = "1" }
checks.positive_data_acceptance.expected-statuses = [200, 404, 503]
[[operations]]
include-operation-id = "POST_uplinks__name__rewind"
checks.positive_data_acceptance.expected-statuses = [200, 404, 422]
[[operations]]
include-operation-id = "GET_samples__device___channel_"
checks.positive_data_acceptance.expected-statuses = [200, 404, 422, 503]
[[operations]]
include-operation-id = "POST_config_confirm"
checks.positive_data_acceptance.expected-statuses = [200, 409]
"""


def main():
    gateway = Gateway(SETTINGS)
    try:
        rules = os.path.join(gateway.folder, "schemathesis.toml")
        with open(rules, "w") as file:
            file.write(RULES)
        # /stream does not end; tests/gateway/rest/sample_stream_test.cpp tests it. A stopped device keeps its state, so
        # each run starts with a new gateway. Above 50 changes per second, all requests get 429.
        result = subprocess.run(
            [SCHEMATHESIS, "--config-file", rules, "run", f"{gateway.rest}/openapi.json", "--exclude-path", "/stream",
             "--seed", "1", "--rate-limit", "40/s",
             "--max-examples", os.environ.get("TELEGATE_SCHEMATHESIS_EXAMPLES", "20"), "--request-timeout", "10",
             "--no-color"], cwd=gateway.folder, timeout=900)
        alive = gateway.process.poll() is None
        print("the gateway still runs" if alive else "the gateway has exited")
        return result.returncode if alive else 1
    finally:
        gateway.close()


sys.exit(main())
