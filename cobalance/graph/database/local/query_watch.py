"""End queries that the server itself cannot end: stuck in one expression, or filling its heap.

Killing the server and starting it again would end them, too. Measured on two busy cores with a load
of 60,000 images under way: it answers again after 30 s, on the same port. Every open transaction of
other clients is lost (commits are not), and the load fails, as the driver retries for 5 s only. So
one thread is stopped, and nobody else notices.
"""

import sys
import threading
import traceback
from dataclasses import dataclass
from typing import Any

import jpype

from cobalance.graph.database.local.thread_stopper import ThreadStopper

GRACE_S = 0.5
"""How long a query may go on after its limit; the server ends most by itself within that."""
HEAP_SHARE = 0.75
"""Share of the heap's old generation that may be in use after a collection."""

_EVERY_S = 0.5
_FAILURES = 20  # in a row
_LATE, _TOO_LARGE = "java/lang/IllegalStateException", "java/lang/OutOfMemoryError"
_OLD_GENERATION = "Tenured Gen"  # of the serial collector
_MARK = "cobalance_console_s"
"""Of the console's queries, and how long each may take, see `cobalance.graph.console.run`."""


@dataclass(frozen=True)
class _Worker:
    """Server thread that computes a console query."""

    id: int
    name: str
    is_late: bool


class QueryWatch:
    """Stops the threads of console queries that are past their limit or fill the heap.

    Neither time limits nor ``db.memory.transaction.max`` reach into a single expression, such as
    a list comprehension or ``reduce``: without the watch one of them keeps a core busy for good,
    or takes all memory, for everyone.

    Parameters
    ----------
    server : DatabaseManagementService
        The running Neo4j.
    stopper : ThreadStopper
        Of the JVM in this process.
    """

    def __init__(self, server: Any, stopper: ThreadStopper) -> None:
        self._stopper = stopper
        kernel = jpype.JClass("org.neo4j.kernel.impl.api.KernelTransactions")
        resolver = server.database("neo4j").getDependencyResolver()
        self._transactions = resolver.resolveDependency(kernel)
        self._clock = jpype.JClass("java.lang.System")
        management = jpype.JClass("java.lang.management.ManagementFactory")
        self._threads = management.getThreadMXBean()
        pools = management.getMemoryPoolMXBeans()
        self._heap = next(pool for pool in pools if str(pool.getName()) == _OLD_GENERATION)
        limit = int(HEAP_SHARE * self._heap.getUsage().getMax())
        self._heap.setCollectionUsageThreshold(limit)
        self._full_heaps = self._heap.getCollectionUsageThresholdCount()
        self._allocated: dict[int, int] = {}

    def run(self, stop: threading.Event) -> None:
        """Check twice a second until told to stop; sets `stop` if the database does not answer."""
        failures = 0
        while failures < _FAILURES and not stop.wait(_EVERY_S):
            try:
                self.check()
                failures = 0
            except Exception:  # noqa: BLE001 - of any class: Java's
                traceback.print_exc()
                failures += 1
        stop.set()

    def check(self) -> None:
        """Stop late queries and, if a collection has left the heap full, the largest one."""
        workers = self._workers()
        allocated = {
            each.id: int(self._threads.getThreadAllocatedBytes(each.id)) for each in workers
        }
        full_heaps = self._heap.getCollectionUsageThresholdCount()
        if workers and full_heaps > self._full_heaps:
            growth = [n - self._allocated.get(thread, n) for thread, n in allocated.items()]
            largest = workers[growth.index(max(growth))]
            self._stop(largest, _TOO_LARGE, "it would fill the server's heap")
        for worker in workers:
            if worker.is_late:
                self._stop(worker, _LATE, "it was past its time limit")
        self._full_heaps, self._allocated = full_heaps, allocated

    def stop_all(self) -> None:
        """Stop every console query, so that the server can shut down."""
        for worker in self._workers():
            self._stop(worker, _LATE, "the server shuts down")

    def _stop(self, worker: _Worker, exception: str, reason: str) -> None:
        stopped = self._stopper.stop(worker.name, exception, f"The query was stopped: {reason}")
        sys.stdout.write(f"{worker.name}: {reason}; {'stopped' if stopped else 'it has ended'}\n")
        sys.stdout.flush()

    def _workers(self) -> list[_Worker]:
        late = self._console_queries()
        if not late:
            return []
        workers = []
        for info in self._threads.getThreadInfo(self._threads.getAllThreadIds()):
            if info is None or str(info.getThreadState()) != "RUNNABLE":
                continue  # between rows or waiting for the client: the server's own limits hold
            name = str(info.getThreadName())  # neo4j.BoltWorker-4 [bolt-10 - /127.0.0.1:35674]
            address = name.rpartition("/")[2].removesuffix("]")
            if address in late:
                workers.append(_Worker(int(info.getThreadId()), name, late[address]))
        return workers

    def _console_queries(self) -> dict[str, bool]:
        """Read the client addresses of running console queries, and whether each is late.

        From the kernel, since ``SHOW TRANSACTIONS`` looks through every lock that is held: many
        during a load.
        """
        found = {}
        now_ms = int(self._clock.currentTimeMillis())
        for transaction in self._transactions.executingTransactions():
            limit_s = transaction.getMetaData().get(_MARK)
            client = transaction.clientInfo().orElse(None)
            if limit_s is not None and client is not None:
                late_ms = now_ms - int(transaction.startTime()) - 1000 * float(limit_s)
                found[str(client.clientAddress())] = late_ms > 1000 * GRACE_S
        return found
