"""ALIA recipe: edit whole images by instructions, and drop edits that a classifier is sure of."""

from cobalance.generation.recipes.recipe import Recipe

PLUGIN = Recipe(
    name="alia",
    purpose="Edits the whole image as an instruction says, and leaves out what a classifier of the "
    "dataset is sure about.",
    backend="instruct",
    prompt="put the {class} in a place with {concepts}",
    filters={
        "blank": {},
        "duplicates": {},
        "clip": {"text": "concepts"},
        "confidence": {},
    },
    making={"image_guidance_scale": 1.3, "guidance_scale": 5.0},
    choices=(
        "The instructions name the concepts of the plan. ALIA has a language model sum up captions "
        "of the dataset to a few places; give such instructions of your own as the job's variants.",
        "The semantic filter is CLIPScore against the prompt for the concepts, where ALIA's "
        "authors have CLIP choose between a text of the dataset and unrelated ones.",
        "The filter confidence needs the folder of a network that was trained on the dataset "
        "without generated images; without one, the job stops and says so.",
    ),
    reference="Dunlap et al., Diversify Your Vision Datasets with Automatic Diffusion-Based "
    "Augmentation (ALIA, 2023), section 3; the scales of guidance are those of its authors' code.",
)
