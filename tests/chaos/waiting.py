"""Waiting in tests; importing it makes the modules of tests/interop available."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "interop"))
from gateway_process import DEADLINE_S, ENVIRONMENT, eventually, wait_a_moment  # noqa: E402, F401
