from .consensus import (
    ANSWERS as ANSWERS,
    DOES_NOT as DOES_NOT,
    SHOWS as SHOWS,
    UNKNOWN as UNKNOWN,
    select_agreed as select_agreed,
)
from .correction import corrected_counts as corrected_counts, rates as rates
from .defaults import PER_STRATUM as PER_STRATUM
from .imbalance import (
    Verdict as Verdict,
    clique_verdicts as clique_verdicts,
    corrected_imbalances as corrected_imbalances,
)
from .sample import assign_people as assign_people, draw_labels as draw_labels
