from . import (
    compare as compare,
    edits as edits,
    planners as planners,
    proof as proof,
    resample as resample,
    summaries as summaries,
)
from .compare import CURVE as CURVE, budget_curve as budget_curve, compare_all as compare_all
from .edits import (
    CounterfactualPlan as CounterfactualPlan,
    choose_counterfactuals as choose_counterfactuals,
    plan_counterfactual_dataset as plan_counterfactual_dataset,
)
from .planners import (
    Planned as Planned,
    plan_dataset as plan_dataset,
    read_named as read_named,
    require_plannable as require_plannable,
)
from .proof import (
    compare_datasets as compare_datasets,
    foretell as foretell,
    measure_bits as measure_bits,
)
from .resample import (
    list_images as list_images,
    read_listed as read_listed,
    resample_dataset as resample_dataset,
)
from .summaries import (
    COUNTS_ALONE as COUNTS_ALONE,
    balances_rates as balances_rates,
    bits_text as bits_text,
    count_contradicted as count_contradicted,
    describe_balance as describe_balance,
    describe_proof as describe_proof,
    describe_widened as describe_widened,
    describe_worse as describe_worse,
    describe_worth as describe_worth,
    no_images as no_images,
    plan_table as plan_table,
    plan_warnings as plan_warnings,
)
