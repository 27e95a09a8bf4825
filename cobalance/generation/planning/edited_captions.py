"""Edit the captions of images that a plan edits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from cobalance.base import check_known
from cobalance.generation.planning.counterfactuals import CounterfactualOptions
from cobalance.ingest import MANY_GROUPS, NO_GROUP, NO_PERSON, REASONS, CaptionEditor, GroupWords

NO_CAPTIONS = "images without captions"
OTHER_GROUP = "images whose captions name another group than their class"


@dataclass(frozen=True, eq=False)
class CaptionEdits:
    """Edits the captions of one image after the other.

    Parameters
    ----------
    groups : tuple of str
        Target groups; ignored if images keep their own.
    options : CounterfactualOptions
        What captions allow to edit an image.

    Raises
    ------
    UnknownNameError
        The words have no such group.
    """

    words: GroupWords
    groups: tuple[str, ...]
    options: CounterfactualOptions

    def __post_init__(self) -> None:
        check_known("group", self.groups, self._editor.groups)

    def edit(self, captions: Sequence[str], class_name: str) -> tuple[dict[str, Any], str | None]:
        """The columns ``caption`` and ``captions`` of an image, and why it is left out, if it is.

        Of a caption that cannot be edited to all groups none is kept, so that the images of a
        source have as many captions each.
        """
        one_group = self.options.captions == "one group"
        if one_group:
            fault = self._fault(captions, class_name)
            if fault is not None:
                return {}, fault

        prompts = list[tuple[str, dict[str, str]]]()
        remaining = list[dict[str, str]]()
        reasons = list[str]()

        for caption in captions:
            texts, reason = self._to_groups(caption)
            if reason is None:
                prompts.append((caption, texts))
                remaining.append(texts)
                continue

            reasons.append(reason)
            is_true_of_all = reason in (NO_GROUP, NO_PERSON) and self._editor.is_neutral(caption)
            if is_true_of_all and self.options.unnamed == "keep":
                remaining.append(dict.fromkeys(self._asked, caption))

        if one_group and not prompts:
            # That a caption names nobody is the last reason to give: it is true of most.
            worst = min(reasons, key=lambda reason: (reason in (NO_GROUP, NO_PERSON), reason))
            return {}, f"images with {worst}"

        if self.options.made == "own":
            # A control set has the captions as they are.
            own_prompt = {class_name: prompts[0][0]} if prompts else {}
            return {"caption": own_prompt, "captions": tuple(captions)}, None
        prompt = prompts[0][1] if prompts else dict.fromkeys(self.groups, "")
        by_group = {group: tuple(texts[group] for texts in remaining) for group in self.groups}
        return {"caption": prompt, "captions": by_group}, None

    def _fault(self, captions: Sequence[str], class_name: str) -> str | None:
        """Reason to leave an image out: no captions, several groups, or another than its own."""
        if not captions:
            return NO_CAPTIONS

        named = set[str]().union(*map(self._naming.groups_in, captions))
        if len(named) > 1:
            return f"images with {MANY_GROUPS}"
        is_group = class_name in self.groups and class_name in self._naming.groups
        if is_group and named and class_name not in named:
            return OTHER_GROUP
        return None

    def _to_groups(self, caption: str) -> tuple[dict[str, str], str | None]:
        texts = dict[str, str]()
        reasons = list[str]()

        for group in self._asked:
            edited = self._editor.edit_caption(caption, group)
            if edited.text is None:
                reasons.append(edited.reason)
            else:
                texts[group] = edited.text

        if reasons:
            return {}, max(reasons, key=REASONS.index)
        return texts, None

    @cached_property
    def _asked(self) -> tuple[str, ...]:
        """The groups, or where images show their own, all that the words have."""
        return self._editor.groups if self.options.made == "own" else self.groups

    @cached_property
    def _editor(self) -> CaptionEditor:
        return CaptionEditor(self.words, "unify" if self.options.captions == "unify" else "swap")

    @cached_property
    def _naming(self) -> CaptionEditor:
        """Editor that finds the groups named in a caption, ignoring adjectives."""
        has_both = self.words.own_groups and self.words.attributes
        words = replace(self.words, attributes={}) if has_both else self.words
        return CaptionEditor(words, self._editor.mode)
