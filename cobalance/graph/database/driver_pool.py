"""Drivers that serve one query at a time, and the next one afterwards."""

from collections.abc import Callable
from contextlib import suppress

from neo4j import Driver


class DriverPool:
    """Drivers for queries that need one alone: opened when none is idle, and used again.

    It may be shared between threads.

    Parameters
    ----------
    connect : callable
        Opens a driver.
    """

    def __init__(self, connect: Callable[[], Driver]) -> None:
        self._connect = connect
        self._idle: list[Driver] = []
        self._is_closed = False

    def take(self) -> Driver:
        """Return an idle driver, or a new one: whoever takes it gives it back or closes it."""
        # Another thread may take the last one in between.
        with suppress(IndexError):
            return self._idle.pop()

        return self._connect()

    def give_back(self, driver: Driver) -> None:
        """Keep a driver whose query has ended well for the next one."""
        self._idle.append(driver)
        if self._is_closed:
            self.close()

    def close(self) -> None:
        """Close the idle drivers, and any that is given back afterwards."""
        self._is_closed = True
        with suppress(IndexError):
            while True:
                self._idle.pop().close()
