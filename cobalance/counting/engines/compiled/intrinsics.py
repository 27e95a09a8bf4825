"""Compile decorators, and two CPU instructions that numba does not offer."""

# mypy: allow-untyped-calls

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic as numba_intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])


def compile_inner(function: Function) -> Function:
    """Compile a function into the compiled functions that call it, and for no call from Python.

    What Python calls unpacks every tuple of arrays, which takes longer to compile than most bodies.
    """
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(Function, numba.njit(nogil=True, **options)(function))


def compile_cached(function: Function) -> Function:
    """Compile on first call; keep the machine code on disk where some folder is writable.

    numba tries NUMBA_CACHE_DIR, then ``__pycache__``, then the user's cache folder, and raises
    when it can write to none of them: compiling anew in each process is then the best left.
    """
    try:
        return cast(Function, numba.njit(nogil=True, cache=True)(function))
    except RuntimeError:
        return cast(Function, numba.njit(nogil=True)(function))


def entry_point(factory: Callable[[str], Callable[..., Any]]) -> Callable[..., Any]:
    """Store a function that calls others: `factory` makes it, with the argument in its closure.

    numba would use stored code for as long as the function's own file stays the same, though what
    it calls has changed in another file. But the values in its closure are part of the key.
    """
    return compile_cached(factory(_digest_of_sources()))


def _digest_of_sources() -> str:
    """Return a digest of all files in this folder."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def intrinsic(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare a numba intrinsic, called without the first argument of `function`."""
    return cast(Callable[..., Any], numba_intrinsic(function))


@intrinsic
def prefetch(_typing: Any, array: Any, position: Any) -> Any:
    """Prefetch ``array[position]``: rows are visited in an order no CPU predicts."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = builder.gep(view.data, [arguments[1]])
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        read, keep, data = (ir.Constant(number, value) for value in (0, 3, 1))
        builder.call(function, [builder.bitcast(pointer, byte), read, keep, data])
        return context.get_dummy_value()

    return types.void(array, position), generate


@intrinsic
def ones(_typing: Any, _word: Any) -> Any:
    """Count the set bits of a 64-bit word."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate
