from .changes import count_changed as count_changed, update_mined as update_mined
from .cliques import (
    MAX_CLIQUES as MAX_CLIQUES,
    Cliques as Cliques,
    Clustering as Clustering,
    clique_order as clique_order,
    count_chosen as count_chosen,
    intersect_ascending as intersect_ascending,
    mine_cliques as mine_cliques,
)
from .clusters import ClusterCounts as ClusterCounts, count_in_clusters as count_in_clusters
from .cooccurrence import CoOccurrence as CoOccurrence
from .incidence import (
    Incidence as Incidence,
    build_incidence as build_incidence,
    incidence_of as incidence_of,
)
from .mining_options import Engine as Engine, MiningOptions as MiningOptions
from .one_against_rest import (
    label_by as label_by,
    mine_one_against_rest as mine_one_against_rest,
    rest_of as rest_of,
)
from .sample import priorities as priorities, sample_rows as sample_rows
from .subsets import MISSING as MISSING, SubsetIndex as SubsetIndex, sets_matrix as sets_matrix
