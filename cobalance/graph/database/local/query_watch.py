"""End queries that the server itself cannot end: stuck in one expression, or filling its heap.

Killing the server and starting it again would end them, too. Measured on two busy cores with a load
of 60,000 images under way: it answers again after 30 s, on the same port. Every open transaction of
other clients is lost (commits are not), and the load fails, as the driver retries for 5 s only. So
one thread is stopped, and nobody else notices.
"""

import sys
import threading
import traceback
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import jpype

from cobalance.graph.database.local.thread_stopper import ThreadStopper

GRACE_S = 0.5
"""How long a query may go on after its limit; the server ends most by itself within that."""
HEAP_SHARE = 0.75
"""Share of the heap's old generation that may be in use after a collection."""
QUERY_SHARE = 0.125
"""Share of it that a query may hold by itself while the heap is full."""

_EVERY_S = 0.5
# In a row.
_FAILURES = 20
_LATE, _TOO_LARGE = "java/lang/IllegalStateException", "java/lang/OutOfMemoryError"
# Of the serial collector, which the server runs with.
_OLD_GENERATION = "Tenured Gen"
_MARK = "cobalance_console_s"
"""Of the console's queries, and how long each may take, see `cobalance.graph.console.run`."""


@dataclass(frozen=True)
class _Worker:
    """Server thread that computes a console query; the client's address tells which."""

    id: int
    name: str
    address: str
    is_late: bool


class HeldMemory:
    """Estimates the memory that each query holds.

    Java tells what a thread has allocated, not what of it is still in use. What collections leave
    grows by what all threads have allocated since the last one and hold, so a query is counted its
    part of that growth: as large a part as its own of all that was allocated. Where less is left
    than before, it may be the query that holds less.

    Examples
    --------
    >>> memory = HeldMemory(left=100, allocated=0)
    >>> memory.add("a small read", 10)
    >>> memory.add("a large list", 290)
    >>> memory.settle(left=200, allocated=400, queries=["a small read", "a large list"])
    >>> memory.held
    {'a small read': 2, 'a large list': 72}
    >>> memory.settle(left=190, allocated=400, queries=["a large list"])
    >>> memory.held
    {'a large list': 62}
    """

    def __init__(self, left: int, allocated: int) -> None:
        self._left, self._allocated = left, allocated
        self._since = dict[str, int]()
        self.held = dict[str, int]()

    def add(self, query: str, allocated: int) -> None:
        """Count further bytes that a query has allocated."""
        self._since[query] = self._since.get(query, 0) + allocated

    def settle(self, left: int, allocated: int, queries: Collection[str]) -> None:
        """Count each running query its part after a collection.

        Parameters
        ----------
        left : int
            Bytes that the last collection has left.
        allocated : int
            Bytes that all threads have allocated since the server's start.
        queries : collection of str
            Those that run; others are forgotten.
        """
        growth = left - self._left
        n_allocated = max(allocated - self._allocated, 1)
        held = {}
        for query in queries:
            # Where less is left than before, the query may have held all of the difference.
            share = 1.0
            if growth > 0:
                share = min(self._since.get(query, 0) / n_allocated, 1.0)
            held[query] = max(self.held.get(query, 0) + int(growth * share), 0)
        self.held = held

        if growth != 0:
            self._left, self._allocated, self._since = left, allocated, {}


class QueryWatch:
    """Stops the threads of console queries that are past their limit or fill the heap.

    Neither time limits nor ``db.memory.transaction.max`` reach into a single expression, such as
    a list comprehension or ``reduce``: without the watch one of them keeps a core busy for good,
    or takes all memory, for everyone. A query is stopped for what it holds itself: while the heap
    is full of something else, others go on.

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
        self._memory = HeldMemory(self._left_bytes(), self._threads.getTotalThreadAllocatedBytes())
        self._allocated: dict[tuple[str, int], int] = {}

    def run(self, stop: threading.Event) -> None:
        """Check twice a second until told to stop; sets `stop` if the database does not answer."""
        failures = 0
        while failures < _FAILURES and not stop.wait(_EVERY_S):
            try:
                self.check()
                failures = 0
            except Exception:  # noqa: BLE001 - Java's are of any class
                traceback.print_exc()
                failures += 1
        stop.set()

    def check(self) -> None:
        """Stop late queries and, if the heap is full, the one that holds most of it."""
        largest = self._largest()
        if largest is not None:
            # Only what a collection leaves is held, and the last one may be long ago.
            self._stopper.collect_garbage()
            largest = self._largest()
        if largest is not None:
            megabytes = self._memory.held[largest.address] >> 20
            reason = f"it holds {megabytes} MB of the server's heap, which is full"
            self._stop(largest, _TOO_LARGE, reason)

        for worker in self._workers(self._console_queries()):
            if worker.is_late and worker != largest:
                self._stop(worker, _LATE, "it was past its time limit")

    def _largest(self) -> _Worker | None:
        """Return who holds most of a full heap, and more than a query may."""
        queries = self._console_queries()
        workers = self._workers(queries)
        allocated_by_thread = {}
        for worker in workers:
            thread = worker.address, worker.id
            allocated = int(self._threads.getThreadAllocatedBytes(worker.id))
            # What a thread has allocated before it came upon the query is not the query's.
            before = self._allocated.get(thread, allocated)
            self._memory.add(worker.address, allocated - before)
            allocated_by_thread[thread] = allocated
        self._allocated = allocated_by_thread

        in_use, heap_size = self._left_bytes(), int(self._heap.getUsage().getMax())
        total = int(self._threads.getTotalThreadAllocatedBytes())
        self._memory.settle(in_use, total, queries)
        if not workers or in_use < HEAP_SHARE * heap_size:
            return None

        largest = max(workers, key=lambda worker: self._memory.held[worker.address])
        if self._memory.held[largest.address] < QUERY_SHARE * heap_size:
            return None
        return largest

    def _left_bytes(self) -> int:
        """Bytes that the last collection of the old generation has left."""
        return int(self._heap.getCollectionUsage().getUsed())

    def stop_all(self) -> None:
        """Stop every console query, so that the server can shut down."""
        for worker in self._workers(self._console_queries()):
            self._stop(worker, _LATE, "the server shuts down")

    def _stop(self, worker: _Worker, exception: str, reason: str) -> None:
        has_stopped = self._stopper.stop(worker.name, exception, f"The query was stopped: {reason}")
        end = "stopped" if has_stopped else "it has ended"
        sys.stdout.write(f"{worker.name}: {reason}; {end}\n")
        sys.stdout.flush()

    def _workers(self, late: dict[str, bool]) -> list[_Worker]:
        """Threads that compute the queries of these client addresses."""
        if not late:
            return []

        workers = []
        for info in self._threads.getThreadInfo(self._threads.getAllThreadIds()):
            # Between rows, or while it waits for the client, the server's own limits hold.
            if info is None or str(info.getThreadState()) != "RUNNABLE":
                continue
            # Such as "neo4j.BoltWorker-4 [bolt-10 - /127.0.0.1:35674]".
            name = str(info.getThreadName())
            address = name.rpartition("/")[2].removesuffix("]")
            if address in late:
                workers.append(_Worker(int(info.getThreadId()), name, address, late[address]))
        return workers

    def _console_queries(self) -> dict[str, bool]:
        """Read the client addresses of running console queries, and whether each is late.

        From the kernel, since ``SHOW TRANSACTIONS`` looks through every lock that is held: many
        during a load.
        """
        is_late = {}
        now_ms = int(self._clock.currentTimeMillis())
        for transaction in self._transactions.executingTransactions():
            limit_s = transaction.getMetaData().get(_MARK)
            client = transaction.clientInfo().orElse(None)
            if limit_s is not None and client is not None:
                late_ms = now_ms - int(transaction.startTime()) - 1000 * float(limit_s)
                is_late[str(client.clientAddress())] = late_ms > 1000 * GRACE_S
        return is_late
