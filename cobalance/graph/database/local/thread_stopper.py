"""Stop a Java thread with an exception, through the JVM Tool Interface.

Neo4j marks a transaction as terminated and checks the mark between rows, so that an expression
that computes for hours goes on. Java has had no way to stop another thread since JDK 20;
debuggers still have one, ``StopThread`` of JVMTI, which is called here by ctypes.
"""

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import POINTER, byref, c_char_p, c_int, c_ubyte, c_void_p
from pathlib import Path
from typing import Any

# Positions in the function tables of jni.h and jvmti.h, from 0.
_GET_ENV = 6
_FIND_CLASS, _PUSH_FRAME, _POP_FRAME, _NEW_OBJECT = 6, 19, 20, 30
_GET_METHOD, _NEW_STRING = 33, 167
_GET_THREADS, _STOP_THREAD, _GET_THREAD_INFO, _DEALLOCATE, _ADD_CAPABILITIES = 3, 6, 8, 46, 141
_FORCE_COLLECTION = 107

_JNI_1_8, _JVMTI_1_2 = 0x00010008, 0x30010200
# The 16 bytes of jvmtiCapabilities, with bit 10 set.
_CAN_SIGNAL_THREAD = (0, 1 << 2) + (0,) * 14
# JNI references of one call: there are one or two for each thread of the server.
_REFERENCES = 4096


class _ThreadInfo(ctypes.Structure):
    _fields_ = [
        ("name", c_void_p),
        ("priority", c_int),
        ("is_daemon", c_ubyte),
        ("group", c_void_p),
        ("loader", c_void_p),
    ]


class ThreadStopper:
    """Stops threads of the JVM that runs in this process.

    Parameters
    ----------
    library : Path
        The JVM's shared library, from which it was started.

    Raises
    ------
    OSError
        The JVM does not offer this capability.
    """

    def __init__(self, library: Path) -> None:
        machine, count = c_void_p(), c_int()
        get_machines = ctypes.CDLL(str(library)).JNI_GetCreatedJavaVMs
        _check("JNI_GetCreatedJavaVMs", get_machines(byref(machine), 1, byref(count)))

        self._machine = machine
        self._tools = self._environment(_JVMTI_1_2)
        self._lock = threading.Lock()
        capabilities = (c_ubyte * 16)(*_CAN_SIGNAL_THREAD)
        _check("AddCapabilities", self._call_tool(_ADD_CAPABILITIES, capabilities))

    def stop(self, name: str, exception: str, message: str) -> bool:
        """Throw an exception in a thread, wherever it is; False if no thread has the name.

        Only a thread that computes for a client may be stopped: one that changes shared state
        would leave it half changed.

        Parameters
        ----------
        name : str
            The thread's name.
        exception : str
            Class with a constructor that takes a message, such as ``java/lang/RuntimeException``.
        """
        with self._lock, self._frame() as java:
            count, threads = c_int(), POINTER(c_void_p)()
            _check("GetAllThreads", self._call_tool(_GET_THREADS, byref(count), byref(threads)))
            try:
                for thread in threads[: count.value]:
                    if self._name(c_void_p(thread)) == name:
                        thrown = _new_exception(java, exception, message)
                        stopped = self._call_tool(_STOP_THREAD, c_void_p(thread), thrown)
                        return bool(stopped == 0)
            finally:
                self._call_tool(_DEALLOCATE, threads)
        return False

    def collect_garbage(self) -> None:
        """Have all of the heap collected, which Java's own call does not where it is disabled."""
        with self._lock, self._frame():
            _check("ForceGarbageCollection", self._call_tool(_FORCE_COLLECTION))

    def _name(self, thread: c_void_p) -> str:
        info = _ThreadInfo()
        if self._call_tool(_GET_THREAD_INFO, thread, byref(info)) != 0:
            # The thread has ended.
            return ""

        # The name is the tool's memory, which is to be given back.
        name = c_char_p(info.name).value or b""
        self._call_tool(_DEALLOCATE, c_void_p(info.name))
        return name.decode("utf-8", "replace")

    @contextmanager
    def _frame(self) -> Iterator[c_void_p]:
        """Give this thread's JNI environment; references made meanwhile are dropped at the end."""
        java = self._environment(_JNI_1_8)
        _check("PushLocalFrame", _call(java, _PUSH_FRAME, c_int(_REFERENCES)))
        try:
            yield java
        finally:
            _call(java, _POP_FRAME, c_void_p(None), result=c_void_p)

    def _environment(self, version: int) -> c_void_p:
        environment = c_void_p()
        _check("GetEnv", _call(self._machine, _GET_ENV, byref(environment), c_int(version)))
        return environment

    def _call_tool(self, position: int, *arguments: Any) -> int:
        return int(_call(self._tools, position, *arguments))


def _new_exception(java: c_void_p, name: str, message: str) -> c_void_p:
    kind = c_void_p(_call(java, _FIND_CLASS, name.encode(), result=c_void_p))
    signature = (b"<init>", b"(Ljava/lang/String;)V")
    constructor = c_void_p(_call(java, _GET_METHOD, kind, *signature, result=c_void_p))
    text = _call(java, _NEW_STRING, message.encode("ascii", "replace"), result=c_void_p)
    arguments = (c_void_p * 1)(text)
    return c_void_p(_call(java, _NEW_OBJECT, kind, constructor, arguments, result=c_void_p))


def _call(interface: c_void_p, position: int, *arguments: Any, result: Any = c_int) -> Any:
    """Call a function of a native interface: a pointer to a pointer to a table of functions."""
    table = ctypes.cast(interface, POINTER(POINTER(c_void_p)))[0]
    function = ctypes.CFUNCTYPE(result)(table[position])
    return function(interface, *arguments)


def _check(function: str, status: int) -> None:
    if status != 0:
        raise OSError(f"the JVM refused {function}: error {status}")
