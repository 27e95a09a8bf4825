from . import (
    cliques as cliques,
    drop_rename as drop_rename,
    mining as mining,
    names as names,
    plans as plans,
    state as state,
    statements as statements,
    write as write,
)
from .cliques import (
    load_cliques as load_cliques,
    mining_of as mining_of,
    read_cliques as read_cliques,
    read_compared_table as read_compared_table,
    read_mining_options as read_mining_options,
    require_size as require_size,
)
from .image_lists import find_images as find_images
from .limits import MAX_CLIQUES as MAX_CLIQUES
from .mentions import replace_mentions as replace_mentions
from .names import (
    check_images as check_images,
    check_names as check_names,
    class_sizes as class_sizes,
    split_sizes as split_sizes,
    state_with_names as state_with_names,
)
from .plans import (
    edit_properties as edit_properties,
    find_outdated as find_outdated,
    read_edit as read_edit,
    replan_actions as replan_actions,
)
from .read import (
    EXCLUDE as EXCLUDE,
    annotations_of as annotations_of,
    load_incidence as load_incidence,
    read_annotations as read_annotations,
    read_left_out as read_left_out,
)
from .state import (
    DatasetState as DatasetState,
    busy_dataset as busy_dataset,
    check_name as check_name,
    dataset_state as dataset_state,
)
from .write import (
    TAG_SOURCE as TAG_SOURCE,
    IngestReport as IngestReport,
    without_own_tags as without_own_tags,
    write_annotations as write_annotations,
    write_changes as write_changes,
)
