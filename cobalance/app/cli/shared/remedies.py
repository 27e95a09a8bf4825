"""Remedies of errors as flags, environment variables and commands."""

import json
from shlex import quote

from cobalance.base.errors import Action, Setting

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
    from cobalance.workflows.settings import VARIABLES

    if part.name in VARIABLES:
        return VARIABLES[part.name]
    group, _, name = part.name.partition(".")
    if group == "parameters":  # of a saved query
        return f"--param {name}=VALUE"
    if group in ("masks", "variants"):  # of a job
        return f"--set {part.name}={part.value or '...'}"
    if group == "planner":
        return f"--set {name}={part.value or '...'}"
    return _with_value(part.name, part.value)


def command(action: Action) -> str:
    """The shell command of an action."""
    arguments = iter(action.arguments)
    words = []
    of_edits = "plan." if action.name == "plan_counterfactuals" else ""
    for word in COMMANDS[action.name].split():
        value = next(arguments, ...) if word.isupper() else ...
        words.append(word if value is ... else quote(str(value)))
    for name, value in action.options.items():
        values: list[object]
        if isinstance(value, dict):
            values = [f"{own}={json.dumps(it)}" for own, it in value.items()]
        elif name == "cliques" and isinstance(value, tuple):
            values = [json.dumps(it, ensure_ascii=False) for it in value]
        else:
            values = [*value] if isinstance(value, tuple) else [value]
        if name == "classes" and not values:  # of `mine`
            words.append("--classes ''")
        elif name == "common" and not values:  # of `mine`
            words.append("--any-class")
        words += [_with_value(of_edits + name, it) for it in values]
    return " ".join(["cobalance", *words])


def _with_value(name: str, value: object) -> str:
    last = name.rpartition(".")[2]
    flag = FLAGS.get(name) or FLAGS.get(last, f"--{last.replace('_', '-')}")
    return flag if value is None or value is True else f"{flag} {quote(str(value))}"
