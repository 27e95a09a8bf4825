"""How Arrow asks for memory, in a command that has its process for itself."""

import os


def avoid_huge_pages() -> None:
    """Have Arrow's allocator ask for usual pages; to be called before Arrow is imported.

    Linux may take long to put pages of 2 MB together: reading ten million images took 22 s in place
    of 13 (``python -m benchmarks.reading``). What a person has set stays.
    """
    os.environ.setdefault("MIMALLOC_ALLOW_THP", "0")
