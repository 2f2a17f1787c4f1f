"""Environment of started programs, and waiting in tests."""

import os
import select
import time

# Variables for the tests would be read as settings.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("TELEGATE_")}
DEADLINE_S = 90


def wait_a_moment(seconds):
    select.select([], [], [], seconds)


def eventually(condition, what, seconds=DEADLINE_S):
    """Returns the value of the condition once it is true; `what` is a text or a function that returns one."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what() if callable(what) else what}")
        wait_a_moment(0.05)
    return value
