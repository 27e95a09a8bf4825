from . import backends as backends, export as export, filters as filters, recipes as recipes
from .backends import BACKENDS as BACKENDS
from .backends.backend import BackendPlugin as BackendPlugin
from .backends.compositing.draws import Draws as Draws
from .backends.compositing.exemplars import Exemplar as Exemplar, write_exemplars as write_exemplars
from .backends.compositing.styles import paint_look as paint_look, style_of as style_of
from .backends.families import (
    FAMILIES as FAMILIES,
    QUALITIES as QUALITIES,
    Family as Family,
    choose_family as choose_family,
)
from .export import (
    ExportDataset as ExportDataset,
    ExportError as ExportError,
    ExportOptions as ExportOptions,
    ExportReport as ExportReport,
)
from .export.describing.card import (
    escape_markdown as escape_markdown,
    markdown_list as markdown_list,
    markdown_table as markdown_table,
)
from .export.describing.croissant import (
    CROISSANT_CONTEXT as CROISSANT_CONTEXT,
    CROISSANT_VERSIONS as CROISSANT_VERSIONS,
    describe_field as describe_field,
)
from .export.describing.findings import Findings as Findings
from .export.formats import EXPORTERS as EXPORTERS
from .export.job_images import (
    compose_job as compose_job,
    read_merged as read_merged,
    with_source_concepts as with_source_concepts,
)
from .export.overwriting import MARKER as MARKER
from .export.staging import open_staging as open_staging
from .filters import FILTERS as FILTERS
from .image_request import GenerationError as GenerationError
from .jobs.filter_words import FilterWords as FilterWords
from .jobs.patches import check_patches as check_patches, needs_patch as needs_patch
from .jobs.people_consent import check_consent as check_consent
from .jobs.pilot import PILOT_ABOVE as PILOT_ABOVE, candidate_limit as candidate_limit
from .jobs.settings import JobSettings as JobSettings, read_job_settings as read_job_settings
from .jobs.variants import Variant as Variant
from .planning.acceptance import estimate_acceptance as estimate_acceptance
from .planning.composition import (
    INCOMPLETE as INCOMPLETE,
    REAL_IMAGES as REAL_IMAGES,
    ResultOptions as ResultOptions,
)
from .planning.counterfactuals import (
    CounterfactualOptions as CounterfactualOptions,
    plan_counterfactuals as plan_counterfactuals,
)
from .planning.effects import (
    AFTER as AFTER,
    BEFORE as BEFORE,
    effect_table as effect_table,
    has_all as has_all,
    measure as measure,
    measure_all as measure_all,
    measure_planner as measure_planner,
    touched_rows as touched_rows,
    widened_rows as widened_rows,
)
from .planning.lean import find_leaning as find_leaning
from .planning.plan import (
    Plan as Plan,
    PlannedImages as PlannedImages,
    PlanOptions as PlanOptions,
    plan_of_images as plan_of_images,
    run_planner as run_planner,
)
from .planning.plan_file import plan_from_json as plan_from_json, plan_to_json as plan_to_json
from .planning.planners import (
    COUNTS as COUNTS,
    PLANNERS as PLANNERS,
    WHOLE_IMAGES as WHOLE_IMAGES,
    choose_planner as choose_planner,
)
from .planning.resampling import (
    BASELINES as BASELINES,
    Groups as Groups,
    balancing_weights as balancing_weights,
    group_images as group_images,
    image_list as image_list,
    simulate_baseline as simulate_baseline,
)
from .planning.simulation import (
    sets_of as sets_of,
    simulate as simulate,
    summarize_plan as summarize_plan,
)
from .planning.sizes import (
    SIZE_MEASURES as SIZE_MEASURES,
    PlanSizes as PlanSizes,
    plan_usual as plan_usual,
)
from .planning.source_selection import (
    CHILDREN as CHILDREN,
    NO_DERIVATIVES as NO_DERIVATIVES,
    Selection as Selection,
    select_sources as select_sources,
)
from .recipes import DEFAULT as DEFAULT, RECIPES as RECIPES
from .recipes.recipe import FormField as FormField, Recipe as Recipe
from .sources.mask_settings import ANY as ANY
from .sources.object_masks import (
    FindInstances as FindInstances,
    FindParts as FindParts,
    ObjectMasks as ObjectMasks,
    Segment as Segment,
)
from .sources.object_regions import (
    annotated_px as annotated_px,
    box_of as box_of,
    fill_box as fill_box,
    object_regions as object_regions,
)
from .sources.sampler import Sources as Sources
from .sources.segmenters import SEGMENTERS as SEGMENTERS
from .sources.segmenters.segmenter import (
    InstanceSegmenter as InstanceSegmenter,
    find_parts as find_parts,
)
from .worker.bench import (
    BENCH_DATASET as BENCH_DATASET,
    WorkerBench as WorkerBench,
    WorkerSpeed as WorkerSpeed,
    draw_originals as draw_originals,
)
