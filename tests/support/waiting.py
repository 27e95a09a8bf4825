"""Wait for what another process or thread does, and fail when it does not."""

import time
from collections.abc import Callable


def until(condition: Callable[[], object], timeout_s: float = 300.0, pause_s: float = 0.02) -> None:
    """Return when the condition holds; looked at often, and an error after `timeout_s`.

    That is when a run gives up, on a machine however busy, and no measure of what is waited for.
    """
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(pause_s)
