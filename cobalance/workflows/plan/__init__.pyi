from . import (
    compare as compare,
    edits as edits,
    planners as planners,
    proof as proof,
    resample as resample,
    summaries as summaries,
)
from .edits import (
    CounterfactualPlan as CounterfactualPlan,
    plan_counterfactual_dataset as plan_counterfactual_dataset,
)
from .planners import Planned as Planned, plan_dataset as plan_dataset
from .proof import compare_datasets as compare_datasets
from .summaries import (
    balances_rates as balances_rates,
    bits_text as bits_text,
    describe_balance as describe_balance,
    describe_worth as describe_worth,
    no_images as no_images,
    plan_table as plan_table,
)
