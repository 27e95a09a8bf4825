"""A way to a server that can be blocked, cut and restored: what a network does, for real."""

import contextlib
import socket
import threading


class Forwarder:
    """Passes connections on loopback to a server on loopback; use it as a context manager.

    Parameters
    ----------
    target : int
        The server's port.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self._passes = threading.Event()
        self._passes.set()
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._listen()

    def __enter__(self) -> "Forwarder":
        return self

    def __exit__(self, *_: object) -> None:
        self._passes.set()
        self.cut()

    def block(self) -> None:
        """Accept everything from now on and pass nothing on: a server that hangs."""
        self._passes.clear()

    def unblock(self) -> None:
        """Pass everything on again, what was held back too."""
        self._passes.set()

    def cut(self) -> None:
        """End all connections and refuse new ones: a server that has stopped."""
        with self._lock:
            for each in (self._listener, *self._open):
                _end(each)
            self._open.clear()

    def restore(self) -> None:
        """Take connections again after `cut`."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self._listen()

    def _listen(self) -> None:
        threading.Thread(target=self._accept, args=[self._listener], daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):  # closed: cut
            while True:
                near, _ = listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                with self._lock:
                    self._open += [near, far]
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._pump, args=[source, sink], daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(2**16):
                self._passes.wait()
                sink.sendall(data)
        _end(source)
        _end(sink)


def _end(each: socket.socket) -> None:
    with contextlib.suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)  # wakes a thread that waits on it
    each.close()
