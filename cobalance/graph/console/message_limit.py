"""Limit on the bytes of one message from the server, held before the driver unpacks it."""

from typing import Any

from neo4j import Transaction

MAX_MESSAGE_BYTES = 8 << 20
"""For one row. Unpacked, a byte can become 64 (empty lists): half a gigabyte at the most."""


class MessageTooLargeError(Exception):
    """A single message is too large; caught by the console, never shown."""


class MessageLimit:
    """Counts the bytes that a transaction's connection receives, and raises beyond the limit.

    The driver collects a whole row before it unpacks it, and has no limit on either. So its
    connection's socket is wrapped: of the private attributes that this takes, a test shows that
    they still are what they were. The connection is closed with the error: it is out of step.

    Parameters
    ----------
    transaction : neo4j.Transaction
        A transaction that has begun, on a connection that is used for nothing else.
    max_bytes : int
        Bytes of one message.
    """

    def __init__(self, transaction: Transaction, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._max_bytes, self._received = max_bytes, 0
        self._connection: Any = transaction._connection
        inbox = self._connection.inbox
        self._socket, inbox._socket = inbox._socket, self

    def release(self) -> None:
        """Give the connection its own socket back, without a limit."""
        self._connection.inbox._socket = self._socket

    def next_message(self) -> None:
        """Count from zero again."""
        self._received = 0

    def recv_into(self, buffer: Any, nbytes: int = 0) -> int:
        """Receive bytes for the driver.

        Raises
        ------
        MessageTooLargeError
            The message has more bytes than allowed.
        """
        n_bytes = int(self._socket.recv_into(buffer, nbytes))
        self._received += n_bytes
        if self._received > self._max_bytes:
            self._connection.kill()
            raise MessageTooLargeError
        return n_bytes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)
