"""The first few images of many cliques, in lists of images that ascend."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from cobalance.counting.engines.compiled.intrinsics import compile_cached, compile_inner


@compile_inner
def _seek(values, start, stop, least):
    """Return the first position from start to stop whose value is `least` or more, else stop."""
    # Steps double until they are beyond: what is looked for is mostly near.
    low = high = start
    step = 1
    while high < stop and values[high] < least:
        low = high + 1
        high += step
        step *= 2

    high = min(high, stop)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < least:
            low = middle + 1
        else:
            high = middle
    return low


@compile_cached
def mark_first(ranks, bounds, members, ends, most, chosen, n_marked):
    """Mark the first images of cliques; as `cobalance.counting.sample.mark_first`."""
    places = np.empty(members.shape[1], np.int64)
    stops = np.empty(members.shape[1], np.int64)
    for clique in range(len(members)):
        n_lists = 0
        while n_lists < members.shape[1] and members[clique, n_lists] >= 0:
            cell = members[clique, n_lists]
            places[n_lists] = bounds[cell]
            stops[n_lists] = bounds[cell + 1]
            n_lists += 1

        # Each list in its turn goes on to the candidate, or has a later one.
        candidate = np.int64(-1)
        n_agreed = turn = marked = 0
        while n_lists > 0 and marked < most:
            place = _seek(ranks, places[turn], stops[turn], candidate)
            if place == stops[turn] or ranks[place] >= ends[clique]:
                break
            places[turn] = place
            if ranks[place] != candidate:
                candidate = np.int64(ranks[place])
                n_agreed = 0
            n_agreed += 1

            if n_agreed == n_lists:
                chosen[candidate] = True
                marked += 1
                candidate += 1
                n_agreed = 0
            turn = (turn + 1) % n_lists
        n_marked[clique] = marked
