"""What programs are started with, and how a test waits for them."""

import os
import select
import time

# What is meant for the tests would be taken for settings.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("TELEGATE_")}
DEADLINE_S = 90


def wait_a_moment(seconds):
    select.select([], [], [], seconds)


def eventually(condition, what, seconds=DEADLINE_S):
    """What the condition comes to; `what` is a text, or makes one."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what() if callable(what) else what}")
        wait_a_moment(0.05)
    return value
