"""Building blocks of the numba engine: rows, bitmaps, pair tables, search tree and threads."""
