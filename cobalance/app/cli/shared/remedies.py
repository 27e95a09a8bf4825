"""Remedies of errors as flags, environment variables and commands."""

import json
from shlex import quote

from cobalance.base import Action, Setting

FLAGS = {
    "timeout_s": "--timeout",
    "graph_format": "--as",
    "concepts": "--concept",
    "cliques": "--clique",
    "planner_options": "--set",
    "plan.captions": "--edit-captions",
    "plan.limit": "--max-images",
}
"""Flags of options that are not named like them."""
COMMANDS = {
    "ingest": "ingest FILE",
    "mine": "mine DATASET",
    "plan": "plan DATASET",
    "plan_counterfactuals": "plan-edits DATASET",
    "rebalance": "rebalance JOB",
    "retry": "jobs retry JOB",
    "rename_dataset": "datasets rename DATASET NEW",
    "drop_dataset": "datasets drop DATASET",
    "compute_embeddings": "embeddings compute DATASET",
    "review_attributes": "annotate review DATASET",
    "restore": "store restore FILE",
    "server_status": "store status",
    "stop_server": "store stop",
}
"""Commands, with a name in capitals for each argument."""


def in_shell(part: Setting | Action) -> str:
    r"""Word a setting or an action for the command line.

    Examples
    --------
    >>> in_shell(Setting("on_error", "skip")), in_shell(Setting("uri"))
    ('--on-error skip', 'NEO4J_URI')
    >>> in_shell(Action("mine", "my zoo", max_size=3))
    "run `cobalance mine 'my zoo' --max-size 3`"
    >>> [command(Action("mine", "zoo", common=common)) for common in (("cat", "dog"), ())]
    ['cobalance mine zoo --common cat --common dog', 'cobalance mine zoo --any-class']
    >>> in_shell(Action("ingest", ..., dataset="zoo"))
    'run `cobalance ingest FILE --dataset zoo`'
    >>> in_shell(Action("plan", "zoo", planner_options={"share": 0.5}))
    'run `cobalance plan zoo --set share=0.5`'
    >>> command(Action("plan_counterfactuals", "zoo", recipe="pinpoint", groups=("a", "b c")))
    "cobalance plan-edits zoo --recipe pinpoint --groups a --groups 'b c'"
    >>> command(Action("plan_counterfactuals", "zoo", cliques=(("cow", "road"),), limit=9))
    'cobalance plan-edits zoo --clique \'["cow", "road"]\' --max-images 9'
    """
    if isinstance(part, Action):
        return f"run `{command(part)}`"

    from cobalance.workflows import VARIABLES

    if part.name in VARIABLES:
        return VARIABLES[part.name]
    group, _, name = part.name.partition(".")
    # A parameter of a saved query.
    if group == "parameters":
        return f"--param {name}=VALUE"
    # Settings of a job keep the name of their group, options of a planner do not.
    if group in ("masks", "variants"):
        return f"--set {part.name}={part.value or '...'}"
    if group == "planner":
        return f"--set {name}={part.value or '...'}"
    return _with_value(part.name, part.value)


def command(action: Action) -> str:
    """The shell command of an action."""
    words = ["cobalance"]
    arguments = iter(action.arguments)
    for word in COMMANDS[action.name].split():
        # An argument that only the reader knows stays a word in capitals.
        if word.isupper() and (argument := next(arguments, ...)) is not ...:
            words.append(quote(str(argument)))
        else:
            words.append(word)

    # Some options of `plan-edits` are named otherwise than those of other commands.
    prefix = "plan." if action.name == "plan_counterfactuals" else ""
    for name, value in action.options.items():
        values = _option_values(name, value)
        # Only `mine` takes an empty list, in words of its own.
        if name == "classes" and not values:
            words.append("--classes ''")
        elif name == "common" and not values:
            words.append("--any-class")
        words += [_with_value(prefix + name, entry) for entry in values]
    return " ".join(words)


def _option_values(name: str, value: object) -> list[object]:
    """The values for which an option is repeated: entries of a table or a tuple, or one value."""
    if isinstance(value, dict):
        return [f"{key}={json.dumps(entry)}" for key, entry in value.items()]
    if not isinstance(value, tuple):
        return [value]
    if name == "cliques":
        return [json.dumps(clique, ensure_ascii=False) for clique in value]
    return [*value]


def _with_value(name: str, value: object) -> str:
    last = name.rpartition(".")[2]
    flag = FLAGS.get(name) or FLAGS.get(last, f"--{last.replace('_', '-')}")
    return flag if value is None or value is True else f"{flag} {quote(str(value))}"
