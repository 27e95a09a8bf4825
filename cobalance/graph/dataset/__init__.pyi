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
from .backup import (
    NODES as NODES,
    PARTS as PARTS,
    Part as Part,
    Restoration as Restoration,
    Rows as Rows,
    read_cut as read_cut,
)
from .cliques import (
    CliqueTotals as CliqueTotals,
    clique_totals as clique_totals,
    comparison_of as comparison_of,
    load_cliques as load_cliques,
    mining_of as mining_of,
    read_cliques as read_cliques,
    read_compared_table as read_compared_table,
    read_mining_options as read_mining_options,
    require_size as require_size,
)
from .image_lists import find_images as find_images
from .incidence_table import SplitIncidence as SplitIncidence
from .limits import MAX_CLIQUES as MAX_CLIQUES, PER_CLASS as PER_CLASS
from .mentions import replace_mentions as replace_mentions
from .mining import (
    Counted as Counted,
    CountedImages as CountedImages,
    HeldImages as HeldImages,
    MiningReport as MiningReport,
    mine_dataset as mine_dataset,
    mine_images as mine_images,
)
from .names import (
    check_images as check_images,
    check_names as check_names,
    class_sizes as class_sizes,
    read_names as read_names,
    split_sizes as split_sizes,
    splits_of as splits_of,
    state_with_names as state_with_names,
)
from .plans import (
    edit_properties as edit_properties,
    find_outdated as find_outdated,
    read_edit as read_edit,
    read_plan as read_plan,
    read_plan_options as read_plan_options,
    replan_actions as replan_actions,
    write_plan as write_plan,
)
from .read import (
    EXCLUDE as EXCLUDE,
    ClassImages as ClassImages,
    annotations_of as annotations_of,
    load_images as load_images,
    load_incidence as load_incidence,
    load_named_images as load_named_images,
    read_annotations as read_annotations,
    read_class_images as read_class_images,
    read_classes as read_classes,
    read_clusters as read_clusters,
    read_image_concepts as read_image_concepts,
    read_image_files as read_image_files,
    read_left_out as read_left_out,
)
from .sampled import (
    ImageTotals as ImageTotals,
    choose_sample as choose_sample,
    dry_run_sampled as dry_run_sampled,
    write_sampled as write_sampled,
    write_totals as write_totals,
)
from .state import (
    DatasetState as DatasetState,
    Sample as Sample,
    busy_dataset as busy_dataset,
    check_name as check_name,
    dataset_state as dataset_state,
    find_dataset as find_dataset,
    list_datasets as list_datasets,
)
from .write import (
    TAG_SOURCE as TAG_SOURCE,
    IfExists as IfExists,
    IngestReport as IngestReport,
    dry_run as dry_run,
    make_dataset as make_dataset,
    without_own_tags as without_own_tags,
    write_annotations as write_annotations,
    write_changes as write_changes,
)
