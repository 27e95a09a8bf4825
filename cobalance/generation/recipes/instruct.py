"""Instruction recipe: edit the whole image with InstructPix2Pix, as in ConBias's table 3."""

from cobalance.generation.recipes.recipe import Recipe

PLUGIN = Recipe(
    name="instruct",
    purpose="Edits the whole image as an instruction says.",
    backend="instruct",
    prompt="add {concepts} to the background",
    # The object may change, which sanity would reject; an instruction describes no image.
    filters={"blank": {}, "duplicates": {}, "clip": {"text": "concepts"}},
    reference="ConBias, table 3, and ALIA: InstructPix2Pix. Where they are silent: the "
    "instruction, and CLIPScore against the paper's prompt for the concepts.",
)
