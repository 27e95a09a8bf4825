"""LIC: how well a group can be told from captions whose words for it are masked."""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, Literal

import numpy as np
import pandas as pd

from cobalance.base import FloatArray, IntArray, OptionError, check_known, needs_extra, sklearn
from cobalance.evaluation.groups import check_groups
from cobalance.evaluation.metrics.bias import attackers
from cobalance.evaluation.metrics.bias.label_leakage import mean_of_rounds
from cobalance.evaluation.metrics.bias.leakage import difference_of_attackers, leakage
from cobalance.evaluation.metrics.metric import Inputs, MetricPlugin
from cobalance.evaluation.metrics.tables import captions_by_image
from cobalance.evaluation.shortcuts import NONE
from cobalance.ingest import load_group_words

GROUP_WORD, UNKNOWN = "<group>", "<unknown>"
HUMAN_CAPTIONS = 5


def lic(
    captions: pd.DataFrame,
    references: pd.DataFrame,
    groups: Mapping[str, Any],
    *,
    words: Collection[str],
    rng: np.random.Generator,
    options: attackers.AttackOptions | attackers.CaptionAttackOptions | None = None,
) -> pd.DataFrame:
    """Return LIC: the leakage of generated captions minus that of captions by people.

    An attacker guesses the image's group from its caption, in which the words that name groups are
    masked. LIC_M is its score (as `leakage`) on the model's captions. LIC_D is that of an attacker
    on captions by people, where words that the model never uses are masked as well, since a small
    vocabulary hides groups by itself; it is the mean over five captions an image. LIC = LIC_M -
    LIC_D, and 0 is no amplification [1]_ (section 3).

    Parameters
    ----------
    captions : frame
        ``image`` and ``caption``, the model's; of several for an image, the first.
    references : frame
        ``image`` and ``caption``, by people; an image with fewer than five gives them in turn.
    groups : mapping of str to str
        The group of each image; images without one, or with None, are left out.
    words : collection of str
        Words and phrases that name groups; see `group_words`.
    rng : Generator
        Draws, splits and attackers.

    Returns
    -------
    frame of scores
        ``lic_model``, ``lic_data``, ``lic``, and the attackers' accuracies; see `label_leakage` for
        intervals.

    Raises
    ------
    OptionError
        A column is missing, or a group has fewer than three images with both kinds of captions.
    MissingExtraError
        scikit-learn is not installed, or torch, which the attacker ``lstm`` needs.

    Notes
    -----
    The authors' attacker is an LSTM, or BERT, on 90% of the images. The default here is logistic
    regression on the words and pairs of words that a caption has, with a held-out choice of the
    penalty: seconds on a CPU, no weights, and the same result for the same seed. It does not see
    the order of distant words; options' ``attacker="lstm"`` does, as
    `cobalance.evaluation.metrics.bias.lstm_attacker.fit_lstm` has it. Values compare within one
    attacker alone. Captions are compared in lower case, as runs of letters and digits.

    References
    ----------
    .. [1] Hirota, Y., Nakashima, Y. and Garcia, N., *Quantifying societal bias amplification in
       image captioning* (CVPR 2022).
    """
    options = options or attackers.CaptionAttackOptions()
    by_model, by_people = captions_by_image(captions, "captions"), captions_by_image(references)
    images = [
        image
        for image, group in groups.items()
        if not pd.isna(group) and str(image) in by_model and str(image) in by_people
    ]
    codes, _ = pd.factorize(pd.Series([str(groups[image]) for image in images]), sort=True)
    codes = np.asarray(codes, dtype=np.int64)

    # A small vocabulary hides groups by itself: words that the model never uses are masked, too.
    mask = match_words(words)
    generated = [tokens(by_model[str(image)][0], mask) for image in images]
    vocabulary = set().union(*generated)
    people = []
    for image in images:
        captions_tokens = [tokens(caption, mask) for caption in by_people[str(image)]]
        people.append([_replace_unknown(caption, vocabulary) for caption in captions_tokens])

    rounds = []
    for split in attackers.draw_splits(codes, options, rng):
        model = _attack(generated, codes, split, options.attacker)
        for number in range(HUMAN_CAPTIONS):
            human = [caption[number % len(caption)] for caption in people]
            data = _attack(human, codes, split, options.attacker)
            rounds.append(leakage(model, codes[split.test], data=data))

    scores = mean_of_rounds(rounds)
    return scores.assign(metric=scores["metric"].str.replace("leakage", "lic"))


def _replace_unknown(caption: list[str], vocabulary: set[str]) -> list[str]:
    return [token if token in vocabulary else UNKNOWN for token in caption]


def group_words(name: str) -> frozenset[str]:
    """All words that name groups in a word list, built-in or of a TOML file.

    Examples
    --------
    >>> sorted(group_words("gensynth"))[:4]
    ['boy', 'boyfriend', 'boyfriends', 'boys']
    """
    word_list = load_group_words(name)
    by_row = (row.words.values() for row in word_list.rows)
    return frozenset(chain(chain.from_iterable(by_row), *word_list.classes.values()))


def tokens(caption: str, mask: re.Pattern[str] | None) -> list[str]:
    """A caption's words in lower case, masked ones as one token."""
    text = caption.lower()
    if mask is not None:
        text = mask.sub(f" {GROUP_WORD} ", text)
    return re.findall(rf"{GROUP_WORD}|\w+", text)


def match_words(words: Collection[str]) -> re.Pattern[str] | None:
    """A pattern of words and phrases in any case, the longest first; None without any."""
    longest_first = sorted(map(re.escape, words), key=len, reverse=True)
    pattern = rf"\b(?:{'|'.join(longest_first)})\b"
    return re.compile(pattern, re.IGNORECASE) if longest_first else None


@needs_extra("The metric lic", "evaluate")
def _attack(
    captions: Sequence[Sequence[str]],
    codes: IntArray,
    split: attackers.Split,
    attacker: Literal["linear", "mlp", "lstm"],
) -> FloatArray:
    training = [captions[row] for row in split.training]
    tested = [captions[row] for row in split.test]
    if attacker == "lstm":
        with needs_extra("The attacker lstm", "train"):
            from cobalance.evaluation.metrics.bias.lstm_attacker import fit_lstm
        return fit_lstm(training, codes[split.training], split.seed)(tested)

    words = sklearn.feature_extraction.text.CountVectorizer(analyzer=_terms, binary=True)
    features = words.fit_transform(training)
    guess = attackers.fit_attacker(features, codes[split.training], attacker, split.seed)
    return guess(words.transform(tested))


def _terms(caption: Sequence[str]) -> list[str]:
    """Words and pairs of words; where it starts, so that no caption is without a term."""
    padded = ["<start>", *caption]
    return [*padded, *map(" ".join, pairwise(padded))]


class LicOptions(attackers.CaptionAttackOptions):
    """Options of the metric lic.

    Parameters
    ----------
    attribute : str
        The column of the groups that captions tell; the only one by default.
    words : str
        The list of words that name groups, built-in or a TOML file.
    """

    attribute: str = ""
    words: str = "gensynth"


def _lic(inputs: Inputs, options: LicOptions) -> pd.DataFrame:
    captions = inputs.get("captions")
    if captions is None:
        return difference_of_attackers(inputs.need("table"), "lic")

    groups = check_groups(inputs.need("groups"))
    names = list(map(str, groups.columns[1:]))
    if not options.attribute and len(names) > 1:
        raise OptionError(
            f"groups have {len(names)} columns: {', '.join(names)}. Name one with attribute."
        )
    name = options.attribute or names[0]
    check_known("attribute", [name], names)

    known = groups[groups[name] != NONE]
    return lic(
        captions,
        inputs.need("references"),
        dict(zip(known["image"], known[name], strict=True)),
        words=group_words(options.words),
        rng=inputs.generator(),
        options=options,
    ).assign(group=name)


PLUGIN = MetricPlugin(
    "lic",
    "How well groups are told from captions without their words, minus how well from those by "
    "people. A table has lic_model and lic_data.",
    extra="evaluate",
    options=LicOptions,
    takes=("captions|table", "references|table", "groups|table"),
    compute=_lic,
)
