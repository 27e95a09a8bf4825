"""The cliques found so far, in arrays that grow."""

import numpy as np

from graph.mining.compiled import compiled


@compiled
def put(members, prefix, size, a, b):
    """Write one clique: the prefix and two more codes, ascending, -1 behind."""
    members[:size] = prefix[:size]
    members[size] = a
    members[size + 1] = b
    members[size + 2 :] = -1
    for last in range(1, size + 2):
        code = members[last]
        hole = last
        while hole > 0 and members[hole - 1] > code:
            members[hole] = members[hole - 1]
            hole -= 1
        members[hole] = code


@compiled
def with_room(array, used, needed):
    """Give the array, or a longer copy of its used rows."""
    if needed <= len(array):
        return array
    longer = np.empty((max(needed, 2 * len(array)), array.shape[1]), array.dtype)
    longer[:used] = array[:used]
    return longer
