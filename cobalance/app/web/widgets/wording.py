"""Remedies of errors as fields and buttons, labels of the import form, words of the glossary."""

from functools import cache
from pathlib import Path
from typing import Any

from cobalance.base import Action, Setting, readable
from cobalance.ingest import declared_options
from cobalance.workflows import VARIABLES

ON_ERROR = {"fail": "Refuse the file", "skip": "Leave out, and list"}
IF_EXISTS = {
    "fail": "Bring up to date, if they are this file's",
    "append": "Add these to them",
    "replace": "Put these in their place",
}

LABELS = {name: said.title for name, (_, said) in declared_options().items()} | {
    "input_format": "Format",
    "if_exists": "Images that the dataset has",
    "sample": "Images in the graph",
}
"""Fields of the import form, by the option that they set."""

_FIELDS = {
    "images": "“Image folders” on the Data page",
    "timeout_s": "“Time limit in seconds”",
    "skip_missing": "“Leave out images that cannot be read”",
    "reference": "“Name real images by their addresses”",
    "base": "“Base caption”",
    "concepts": "“Concepts instead of attributes”",
    "rule": "“Present” set to “from a threshold”",
    "consent": "“Basis on which people are painted”",
    "alters_real_people": "“A part of real people stays in the images”",
    "without_images": "“Order without images”",
    "masks.object": "“Concept of the object”",
    "variants": "the job's variants",
    "real": "“Real images”",
    "test": "“Test dataset”",
    "test_split": "“Test split”",
    "shortcuts": "“Shortcuts”",
    "key_file": "COBALANCE_CHAT_KEY_FILE",
    "plan.groups": "“Groups to show”",
    "plan.made": "“Each image is made to show”",
    "planner.max_per_class": "“Max per class”",
    "planner.overshoot": "“Overshoot”",
    "max_per_query": "“Most per query”",
    "budget": "“Budget”",
    "people": "“People”",
    "min_size": "“Sizes” from 1",
}
_ACTIONS = {
    "ingest": "load it on the Data page",
    "mine": "mine it with “Mine” on the Data page",
    "plan": "make the plan on the Plan page",
    "plan_counterfactuals": "plan edits on the Plan page",
    "rebalance": "make the dataset from the job on the Make page",
    "retry": "queue the job again with “Fill up” on the Make page",
    "rename_dataset": "rename it with “Rename” on the Data page",
    "drop_dataset": "drop it with “Drop” on the Data page",
    "compute_embeddings": "compute or add vectors on the Diagnose page, under “Similar”",
    "review_attributes": "accept some with “Review” on the Annotate page",
    "restore": "have whoever runs it restore the backup",
    "server_status": "ask whoever runs it",
    "stop_server": "restart it",
}
_OPTIONS = {
    "mine": {
        "max_size": "Most concepts in a clique",
        "min_support": "Minimum images in its most frequent class",
        "common": "Classes that show every concept",
        "split": "Only images of this split",
        "classes": "Compare by",
        "confidence": "Confidence level",
    },
    "plan": {
        "name": "Name of the plan",
        "planner": "Planner",
        "min_size": "Sizes from",
        "max_size": "Sizes to",
        "max_per_query": "Most per query",
        "budget": "Budget",
    },
    "ingest": {"dataset": "Dataset", "captions": LABELS["captions"]},
    "rebalance": {"into": "Name of the dataset"},
}


def in_app(part: Setting | Action) -> str:
    """Word a setting or an action for the web app.

    Examples
    --------
    >>> in_app(Setting("id_column")), in_app(Setting("on_error", "skip"))
    ('“Image id”', '“Malformed records” set to “Leave out, and list”')
    >>> in_app(Setting("images")), in_app(Setting("send_images"))
    ('“Image folders” on the Data page', '“Send images” (in a terminal)')
    >>> in_app(Setting("plan.children", "keep"))
    '“Children” set to keep (in a terminal)'
    >>> in_app(Action("mine", "zoo", max_size=3))
    'mine it with “Mine” on the Data page (“Most concepts in a clique”: 3)'
    """
    if isinstance(part, Action):
        return _action_text(part)

    # A parameter of a saved query has the field of its name.
    group, _, name = part.name.partition(".")
    if group == "parameters":
        return f"“{name}”"
    # No form sets the limits, which protect the server.
    if part.name not in LABELS or part.name.startswith("max_"):
        return _other_setting_text(part, name or group)

    label = f"“{LABELS[part.name]}”"
    if part.value is None:
        return label
    choices = {"on_error": ON_ERROR, "if_exists": IF_EXISTS}.get(part.name)
    if choices is None:
        return f"{label} set to {part.value}"
    return f"{label} set to “{choices[str(part.value)]}”"


def _action_text(action: Action) -> str:
    """Word an action by the page and button for it, with the fields of its options."""
    if action.name == "plan_counterfactuals":
        return _ACTIONS[action.name]
    if action.options == {"classes": ()}:
        return "choose them under “Compare by” on the Diagnose page"

    labels = _OPTIONS.get(action.name, {})
    options = dict(action.options)
    # Each option of a planner has a field of its own.
    planner_options: Any = options.pop("planner_options", {})
    # “Fill up” is the retry of a job that is short of images.
    options.pop("short", None)
    fields = []
    # An empty choice of classes has a box of its own.
    if options.get("common") == ():
        del options["common"]
        fields.append("“Keep concepts that some class never shows”")
    fields += [f"“{labels[name]}”: {_value_text(value)}" for name, value in options.items()]
    fields += [f"“{readable(name)}”: {value}" for name, value in planner_options.items()]
    if not fields:
        return _ACTIONS[action.name]
    return f"{_ACTIONS[action.name]} ({', '.join(fields)})"


def _other_setting_text(setting: Setting, name: str) -> str:
    """Word a setting that the import form lacks: by its field elsewhere, else for a terminal."""
    field = _FIELDS.get(setting.name) or VARIABLES.get(setting.name)
    if field is not None:
        return field
    label = LABELS.get(setting.name, readable(name).capitalize())
    if setting.value is None or setting.value is True:
        return f"“{label}” (in a terminal)"
    return f"“{label}” set to {setting.value} (in a terminal)"


def _value_text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


GLOSSARY = Path(__file__).with_name("glossary.md")
"""Its rows: words, what they mean, and what the paper calls them."""


def meaning(word: str) -> str:
    """The meaning of a word of the glossary, as a sentence of Markdown.

    Examples
    --------
    >>> meaning("size")
    'The number of concepts in a clique.'
    """
    text = _meanings()[word]
    return f"{text[0].upper()}{text[1:]}."


@cache
def _meanings() -> dict[str, str]:
    """The meanings of the glossary's table, by each of a row's words."""
    lines = GLOSSARY.read_text(encoding="utf-8").splitlines()
    # A bar in a cell is escaped, and must not part the row.
    rows = [line.replace("\\|", "\0").split("|") for line in lines if line.startswith("| ")]

    # The first two rows are the head and the rule below it.
    return {
        word.strip(): text.strip().replace("\0", "|")
        for _, words, text, *_ in rows[2:]
        for word in words.split(",")
    }
