"""Every option's name means one thing, and every command is worded alike."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from cobalance.app.cli.main import OPTION_PANELS, whole_program

MEANINGS = {
    "--annotator": "The annotator:",
    "--rules": "The rules, in TOML",
    "--as": "The format:",
    "--assign-split": "Split to give images:",
    "--at-once": "Questions that an address gets at a time.",
    "--baseline": "Show how far every other method differs from this one",
    "--clique": "Only this clique, such as 'cow + road', or in JSON:",
    "--concept": "Only this concept",
    "--confidence": "Confidence level of intervals",
    "--count": "How many images",
    "--dataset": "The dataset",
    "--engine": "Where to count: in memory, out of core, or on Apache Spark",
    "--evaluation": "An evaluation: its",
    "--features": "Image features: pixels, dinov2, clip, clip_336, inception.",
    "--from": "Read this file:",
    "--here": "Work now, in this process",
    "--id-column": "Column with the image's id",
    "--key-file": "A file with the key of the address.",
    "--limit": "Maximum number of rows",
    "--max-images": "Most images:",
    "--max-q": "Largest q-value:",
    "--max-size": "Largest clique",
    "--metric": "A metric:",
    "--min-size": "Smallest clique",
    "--model": "The model:",
    "--name": "Name of the plan in the graph.",
    "--output": "Write to this file",
    "--overlap": "How many people judge each:",
    "--overwrite": "Replace what is there:",
    "--plan": "A plan of the dataset",
    "--preset": "A set of settings:",
    "--recipe": "The recipe:",
    "--results": "Show the results:",
    "--seed": "Random seed",
    "--set": "An option of",
    "--sheet": "Write what is asked, to fill in elsewhere:",
    "--shortcuts": "A TOML file of shortcuts",
    "--split": "Only images of this split",
    "--timeout": "Time limit in seconds",
    "--url": "Ask the model at this OpenAI-compatible address",
    "--words": "Word list of groups, by name or file",
}
"""How the help of an option begins in each of several commands that word it differently."""


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command that is no group, with its words."""
    if not hasattr(command, "commands"):
        yield " ".join(path), command
        return
    for name in command.list_commands(None):
        yield from leaves(command.get_command(None, name), (*path, name))


@pytest.fixture(scope="module")
def helps() -> dict[str, dict[str, list[str]]]:
    """The commands of each option, by its name and its help."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    program = whole_program()
    for words, command in leaves(program):
        for parameter in command.params:
            for name in (*parameter.opts, *parameter.secondary_opts):
                if name.startswith("-") and name != "--help":
                    found[name][parameter.help].append(words)
    return found


def test_one_name_has_one_meaning(helps):
    assert len(helps) > 200
    of_short = {name: wordings for name, wordings in helps.items() if not name.startswith("--")}
    for name, wordings in helps.items():
        if len(wordings) > 1 and name not in of_short:
            assert name in MEANINGS, (name, dict(wordings))
        for wording in wordings:
            assert wording.startswith(MEANINGS.get(name, "")), (name, wording)
    for name, wordings in of_short.items():  # a letter stands for one long name
        assert any(wordings.items() <= others.items() for others in (helps[one] for one in helps
                   if one.startswith("--"))), name  # fmt: skip
    assert all(len(helps[name]) > 1 for name in MEANINGS)


def test_no_two_names_have_the_same_help(helps):
    by_help = defaultdict(set)
    for name, wordings in helps.items():
        for wording in wordings:
            by_help[wording].add(name)
    for wording, names in by_help.items():
        long = {name for name in names if name.startswith("--")}
        assert len(long) == 1 or long in (
            {"--any-class", "--every-class"},
            {"--multi", "--best"},
            {"--as-counts", "--as-rates"},
        ), wording


def test_no_panel_names_an_option_that_is_not_there(helps):
    assert {name for names in OPTION_PANELS.values() for name in names.split()} <= helps.keys()
