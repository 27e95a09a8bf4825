"""Run `cobalance app` as if on a machine with too much to do: pages draw late, runs end late.

Where a thread waits for the processor is chance; here it is where a click was once lost.
"""

import time
from collections.abc import Callable
from typing import Any

from streamlit.runtime.state import SafeSessionState

from cobalance.app.cli.main import run
from cobalance.app.web.state import session

END_S = 0.5
"""How long a run is over without having said so."""
READ_S = 1.2
"""How long a run of the whole page takes to find the datasets."""


def _after(pause_s: float, function: Callable[..., Any]) -> Callable[..., Any]:
    def late(*arguments: Any, **named: Any) -> Any:
        time.sleep(pause_s)
        return function(*arguments, **named)

    return late


if __name__ == "__main__":
    session.datasets = _after(READ_S, session.datasets)
    SafeSessionState.on_script_finished = _after(END_S, SafeSessionState.on_script_finished)  # type: ignore[method-assign]
    run()
