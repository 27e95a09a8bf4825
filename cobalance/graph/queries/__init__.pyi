from . import (
    comparison as comparison,
    console_query as console_query,
    cooccurrences as cooccurrences,
    imbalances as imbalances,
    nodes as nodes,
    own_effects as own_effects,
)
