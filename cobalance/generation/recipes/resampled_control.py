"""Control recipe of Resampled: a body part of test images painted anew, to tell artefacts."""

from cobalance.generation.planning import CounterfactualOptions, ResultOptions
from cobalance.generation.recipes.recipe import Recipe
from cobalance.generation.sources.mask_settings import MaskSettings

BODY_PARTS = ("Face", "Hair", "Left-arm", "Left-leg", "Right-arm", "Right-leg")

PLUGIN = Recipe(
    name="resampled-control",
    purpose="Paints a body part of test images anew, and says who is there as before: a model that "
    "answers otherwise than for the real image has learnt the painter's traces.",
    backend="inpaint",
    prompt="{caption}",
    filters={"sanity": {"min_background": 0.0}, "safety": {}},
    making={"paint": "object"},
    masks=MaskSettings(
        masks="regions+segmenter",
        object=("person",),
        instances="largest_box",
        parts="random",
        min_share=0.0,
        max_share=1.0,
    ),
    job={"segmenter": "sam", "parts": "parsing", "parts_options": {"labels": list(BODY_PARTS)}},
    plan=CounterfactualOptions(made="own", words=("coco-gb",), split="test"),
    result=ResultOptions(real="none"),
    people="alters",
    choices=(
        "Body parts are what human parsing finds of the person with the largest box, one of them "
        "by the image's seed: the paper takes those of COCO-WholeBody, and their outlines by SAM.",
        "The prompt is the first caption that names exactly one group, unedited; one image is made "
        "of each, with the pipeline's own guidance.",
        "It takes test images alone, and is the only recipe that does.",
    ),
    reference="Hirota et al., Resampled Datasets Are Not Enough (2024), section 3.3.",
)
