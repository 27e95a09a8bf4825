from . import plan as plan, plan_file as plan_file, planners as planners, simulation as simulation
from .composition import (
    INCOMPLETE as INCOMPLETE,
    REAL_IMAGES as REAL_IMAGES,
    Composition as Composition,
    ResultOptions as ResultOptions,
    compose_dataset as compose_dataset,
)
from .counterfactuals import (
    CounterfactualOptions as CounterfactualOptions,
    plan_counterfactuals as plan_counterfactuals,
)
from .effects import (
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
from .lean import find_leaning as find_leaning
from .plan import (
    Plan as Plan,
    PlannedImages as PlannedImages,
    PlanOptions as PlanOptions,
    queries_of as queries_of,
    run_planner as run_planner,
)
from .plan_file import plan_from_json as plan_from_json, plan_to_json as plan_to_json
from .planners import (
    COUNTS as COUNTS,
    PLANNERS as PLANNERS,
    WHOLE_IMAGES as WHOLE_IMAGES,
    choose_planner as choose_planner,
)
from .resampling import (
    BASELINES as BASELINES,
    Groups as Groups,
    balancing_weights as balancing_weights,
    group_images as group_images,
    image_list as image_list,
    simulate_baseline as simulate_baseline,
)
from .simulation import (
    sets_of as sets_of,
    simulate as simulate,
    summarize_plan as summarize_plan,
)
from .sizes import (
    SIZE_MEASURES as SIZE_MEASURES,
    PlanSizes as PlanSizes,
    plan_usual as plan_usual,
)
from .source_selection import (
    CHILDREN as CHILDREN,
    NO_DERIVATIVES as NO_DERIVATIVES,
    Selection as Selection,
    select_sources as select_sources,
)
