"""Libraries that read files in a process of their own are limited by what they use."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("work", "ends"), [("import time; time.sleep(3.0)", 0), ("while True: pass", -signal.SIGXCPU)]
)
@pytest.mark.slow
def test_time_is_limited_by_what_the_processor_takes_and_not_by_the_clock(work, ends):
    program = f"from kneewear.io.apart import limit_time\nlimit_time(1)\n{work}\n"
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    assert done.returncode == ends
