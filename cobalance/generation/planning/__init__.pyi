from . import plan as plan, plan_file as plan_file, planners as planners
from .acceptance import (
    estimate_acceptance as estimate_acceptance,
    pilot_size as pilot_size,
    sum_to_make as sum_to_make,
)
from .composition import (
    Composition as Composition,
    ResultOptions as ResultOptions,
    compose_dataset as compose_dataset,
)
from .counterfactuals import CounterfactualOptions as CounterfactualOptions
from .resampling import balancing_weights as balancing_weights
