from . import (
    comparison as comparison,
    console_query as console_query,
    cooccurrences as cooccurrences,
    imbalances as imbalances,
    nodes as nodes,
    own_effects as own_effects,
)
from .binding import bind_named as bind_named, read_saved as read_saved
from .catalogue import CATALOGUE as CATALOGUE
from .catalogue.recounts import MAX_SIZE as MAX_SIZE
from .clique_images import (
    count_in_images as count_in_images,
    list_image_concepts as list_image_concepts,
    read_clique_images as read_clique_images,
    read_image_page as read_image_page,
)
from .comparison import (
    COUNT_PLANNERS as COUNT_PLANNERS,
    compare_dataset_splits as compare_dataset_splits,
    compare_imbalances as compare_imbalances,
    read_asked as read_asked,
    read_copies as read_copies,
    usual_measure as usual_measure,
)
from .concept_counts import CountedDataset as CountedDataset, class_counts as class_counts
from .console_query import (
    MAX_EXACT as MAX_EXACT,
    ConsoleQuery as ConsoleQuery,
    answer_frame as answer_frame,
    names_in as names_in,
    result_frame as result_frame,
    saved_queries as saved_queries,
    search_saved as search_saved,
)
from .contrasts import Contrasts as Contrasts, read_contrasts as read_contrasts
from .cooccurrences import (
    read_clustered_images as read_clustered_images,
    read_cooccurrences as read_cooccurrences,
)
from .imbalances import (
    Ranking as Ranking,
    filter_imbalances as filter_imbalances,
    leaning_concepts as leaning_concepts,
    read_folded_imbalances as read_folded_imbalances,
    read_imbalances as read_imbalances,
)
from .neighbourhood import (
    Kind as Kind,
    Link as Link,
    Neighbourhood as Neighbourhood,
    read_neighbourhood as read_neighbourhood,
    shortest_link as shortest_link,
    to_graphml as to_graphml,
)
from .nodes import (
    NodeDetails as NodeDetails,
    name_of as name_of,
    read_named as read_named,
    read_node as read_node,
)
from .overview import Overview as Overview, read_overview as read_overview
from .own_effects import (
    read_own_effects as read_own_effects,
    read_standing as read_standing,
    read_summary as read_summary,
)
from .progress import DatasetProgress as DatasetProgress, dataset_progress as dataset_progress
from .statements import NAMES as NAMES
from .steps import (
    Images as Images,
    Step as Step,
    StepId as StepId,
    read_steps as read_steps,
    with_images as with_images,
)
