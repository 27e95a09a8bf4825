"""The cliques found so far, in arrays that grow."""

import numpy as np

from graph.mining.compiled import compiled


@compiled
def put(members, row, prefix, size, a, b):
    """Write one clique: the prefix and two more codes, ascending, -1 behind."""
    for place in range(size + 2, members.shape[1]):
        members[row, place] = -1
    for place in range(size + 2):
        code = prefix[place] if place < size else a if place == size else b
        hole = place
        while hole > 0 and members[row, hole - 1] > code:
            members[row, hole] = members[row, hole - 1]
            hole -= 1
        members[row, hole] = code


@compiled
def with_room(array, used, needed):
    """Give the array, or a longer copy of its used rows."""
    if needed <= len(array):
        return array
    longer = np.empty((max(needed, 2 * len(array)), array.shape[1]), array.dtype)
    longer[:used] = array[:used]
    return longer
