from .association import (
    DISAGREEMENTS as DISAGREEMENTS,
    disagreements as disagreements,
    homogeneity_test as homogeneity_test,
    leading_classes as leading_classes,
    rate_differences as rate_differences,
)
from .change import change_p_values as change_p_values, growth_p_values as growth_p_values
from .clustered_tests import clustered_p_values as clustered_p_values
from .comparison import (
    COUNT_AFTER as COUNT_AFTER,
    COUNT_BEFORE as COUNT_BEFORE,
    Comparison as Comparison,
    Measure as Measure,
    check_classes as check_classes,
    check_request as check_request,
    compare_cliques as compare_cliques,
    statuses_of as statuses_of,
)
from .contrasts import (
    Contrast as Contrast,
    skew as skew,
    standardized_residuals as standardized_residuals,
    strongest_contrast as strongest_contrast,
)
from .cooccurrences import cooccurrence_table as cooccurrence_table
from .design_effects import with_clusters as with_clusters
from .imbalance import (
    COUNT as COUNT,
    RATE as RATE,
    evidence_columns as evidence_columns,
    imbalance_table as imbalance_table,
)
from .intervals import (
    NORMAL_95 as NORMAL_95,
    newcombe as newcombe,
    proportions as proportions,
    sum_interval as sum_interval,
    wilson as wilson,
)
from .order import (
    EVIDENCE as EVIDENCE,
    GAP as GAP,
    OWN as OWN,
    SMALLEST_FIRST as SMALLEST_FIRST,
    by_evidence as by_evidence,
)
from .own_effect import find_closed as find_closed, own_effects as own_effects
from .q_values import MAX_Q_VALUE as MAX_Q_VALUE, check_q_value as check_q_value
from .selection import (
    CliqueFilter as CliqueFilter,
    clique_q_values as clique_q_values,
    find_rows as find_rows,
    fold_repeats as fold_repeats,
)
from .separation import separation_table as separation_table
from .splits import (
    FIRST as FIRST,
    HOLDS as HOLDS,
    SECOND as SECOND,
    ComparedSplits as ComparedSplits,
    groups_across_splits as groups_across_splits,
)
from .summary import (
    MOST as MOST,
    SEED as SEED,
    communities as communities,
    first_of_summary as first_of_summary,
    summarize as summarize,
)
from .told_bits import ToldBits as ToldBits, concepts_alone as concepts_alone
