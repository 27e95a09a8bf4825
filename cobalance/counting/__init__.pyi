from .changes import count_changed as count_changed, update_mined as update_mined
from .cliques import (
    MAX_CLIQUES as MAX_CLIQUES,
    Cliques as Cliques,
    Clustering as Clustering,
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
    join_images as join_images,
)
from .mining_options import Engine as Engine, MiningOptions as MiningOptions
from .one_against_rest import (
    label_by as label_by,
    mine_one_against_rest as mine_one_against_rest,
    rest_of as rest_of,
)
from .parts import (
    Batches as Batches,
    Kernel as Kernel,
    Scan as Scan,
    Singles as Singles,
    add_parts as add_parts,
    add_tables as add_tables,
    count_scanned as count_scanned,
    images_of_batch as images_of_batch,
    names_of_batch as names_of_batch,
    names_table as names_table,
    pack as pack,
    read_singles as read_singles,
    run as run,
    singles_of as singles_of,
    unpack as unpack,
)
from .sample import priorities as priorities, sample_rows as sample_rows
from .subsets import MISSING as MISSING, SubsetIndex as SubsetIndex, sets_matrix as sets_matrix
from .threads import available_cores as available_cores, run_shared as run_shared
