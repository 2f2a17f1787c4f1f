"""HTTP requests to a gateway on a busy machine."""

import select
import time
import urllib.error
import urllib.request

PROBES = ("/livez", "/readyz", "/healthz", "/-/")  # a 503 is what they report


def answer_to(request, deadline_s):
    """Returns the status, the fields and the body of the response. Repeats the request while the gateway responds with
    503, because it is busy."""
    end = time.monotonic() + deadline_s
    while True:
        try:
            with urllib.request.urlopen(request, timeout=deadline_s) as response:
                return response.status, response.headers, response.read()
        except urllib.error.HTTPError as error:
            if error.code != 503 or request.selector.startswith(PROBES) or time.monotonic() > end:
                raise
        select.select([], [], [], 0.05)


def body_of(base, path, method, deadline_s):
    return answer_to(urllib.request.Request(base + path, method=method), deadline_s)[2]
