"""Form of an import's options: those of the file's format, with choices read from the file."""

from dataclasses import replace
from pathlib import Path
from typing import cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cobalance.app.web.load.chosen_file import ChosenFile, cached_by_files
from cobalance.app.web.load.column_heads import draw_heads, say_missing
from cobalance.app.web.widgets.theme import bold
from cobalance.app.web.widgets.wording import (
    BY_CAPTIONS,
    BY_CATEGORY,
    BY_COLUMN,
    BY_FILE,
    BY_OWN_CAPTIONS,
    LABELS,
    ON_ERROR,
)
from cobalance.graph.dataset.sampled import PER_CLASS, Sample
from cobalance.graph.names import clean_name
from cobalance.ingest.concepts.word_lists import word_list_names
from cobalance.ingest.formats import FORMATS
from cobalance.ingest.options import (
    ClassOptions,
    MatchMode,
    OnError,
    ReadOptions,
    Refinement,
    TableOptions,
    VocabularyOptions,
    pairs,
)
from cobalance.ingest.preview import FoundFile, TableSample, category_names, sample_table
from cobalance.ingest.tables import TABLES
from cobalance.workflows.load.check import ImportRequest
from cobalance.workflows.load.dataset import default_dataset_name
from cobalance.workflows.load.sources import Source

_MATCHES = {"words": "Whole words and plurals", "substring": "Any text"}
_CLASS = "Class"
_CAPTIONS, _KEPT = "Concepts from captions", "What to keep, and under which names"


def import_form(source: Source, file: FoundFile, others: list[FoundFile]) -> ImportRequest:
    """Draw the form; return the import that it describes."""
    form = _Form(source, file, others)
    with st.container(border=True):
        columns = st.columns([1.2, 1.4, 1, 1])
        automatic = f"{file.format} (found)"
        chosen = columns[0].selectbox(
            LABELS["input_format"], [automatic, *FORMATS], key=form.key("format")
        )
        input_format = None if chosen in (automatic, None) else chosen
        dataset = columns[1].text_input(
            "Dataset",
            default_dataset_name(file.name),
            key=form.key("dataset"),
            help="A new name makes a new dataset; a known one brings that dataset up to date.",
        )
        split = columns[2].text_input(
            LABELS["split"],
            key=form.key("split"),
            placeholder="as the file says",
            help="Such as train.",
        )
        on_error = columns[3].selectbox(
            LABELS["on_error"],
            list(ON_ERROR),
            format_func=ON_ERROR.__getitem__,
            key=form.key("on error"),
        )
        format_ = input_format or file.format or ""
        table = form.table(format_)
        images, separator, kept = st.columns([1.3, 1, 1])
        sampled = images.segmented_control(
            LABELS["sample"],
            [False, True],
            default=False,
            required=True,
            format_func=lambda few: f"A sample of {PER_CLASS} per clique" if few else "All",
            key=form.key("images"),
            help="Every count is kept either way, so that the numbers are the same. A sample of "
            "each clique and class is for millions of images; it has no boxes and no captions.",
        )
        if table is not None and table.concepts is not None:
            delimiter = separator.text_input(
                LABELS["table.delimiter"],
                key=form.key("delimiter"),
                placeholder="automatic: | or ; or ,",
            )
            table = replace(table, delimiter=delimiter or None)
        with kept:
            captions = form.companion(
                LABELS["captions"],
                "kept captions",
                "COCO captions, or a table of image id or file name, and caption: for recipes that "
                "edit images, whose prompts are made of them.",
            )
        delete = st.checkbox(
            LABELS["replace"], key=form.key("replace"), help="Otherwise they stay."
        )
        options = form.options(format_, table, split, cast("OnError", on_error), captions)
    sample = Sample() if sampled else None
    return ImportRequest(file.name, clean_name(dataset), options, input_format, delete, sample)


class _Form(ChosenFile):
    """The fields that depend on the file and its format."""

    def options(
        self,
        format_: str,
        table: TableOptions | None,
        split: str,
        on_error: OnError,
        captions: Path | None,
    ) -> ReadOptions:
        """Draw the options of this format."""
        uses = FORMATS[format_].uses
        titles = [_CLASS, *([_CAPTIONS] if "vocabulary" in uses else []), _KEPT]
        start = _CAPTIONS if format_ == "coco-captions" else _CLASS
        tabs = dict(zip(titles, st.tabs(titles, default=start), strict=True))
        with tabs[_CLASS]:
            classes = self._classes(format_, uses, table)
        vocabulary = VocabularyOptions()
        if _CAPTIONS in tabs:
            with tabs[_CAPTIONS]:
                vocabulary = self._vocabulary()
        if table is not None:
            elsewhere = classes != ClassOptions()
            say_missing(table, class_elsewhere=elsewhere, searched=bool(vocabulary))
            if elsewhere:
                table = replace(table, class_name=None)
        with tabs[_KEPT]:
            refine = self._refinement()
        return ReadOptions(
            table=table or TableOptions(),
            classes=classes,
            vocabulary=vocabulary,
            captions=captions,
            refine=refine,
            split=clean_name(split) or None,
            on_error=on_error,
        )

    def table(self, format_: str) -> TableOptions | None:
        """Draw the first rows of a table, with what each column holds; None for no table."""
        if format_ not in TABLES:
            return None

        def look() -> TableSample:
            with self.opened() as path:
                return sample_table(path, format_)

        sample = cached_by_files(self.source, ("sample", self.file.name, format_), look)
        return draw_heads(self, sample)

    def _classes(
        self, format_: str, uses: frozenset[str], table: TableOptions | None
    ) -> ClassOptions:
        ways = [
            *([BY_COLUMN] if "table" in uses else []),
            *([BY_CATEGORY] if "categories" in uses else []),
            *([BY_OWN_CAPTIONS] if "own captions" in uses else []),
            BY_FILE,
            *([BY_CAPTIONS] if "own captions" not in uses or "table" in uses else []),
        ]
        way = st.segmented_control(
            "An image's class is in", ways, default=ways[0], required=True, key=self.key("class")
        )
        if way == BY_CATEGORY:
            return ClassOptions(categories=self._categories(format_))
        if way == BY_OWN_CAPTIONS:
            return ClassOptions(words=self._words())
        if way == BY_FILE:
            name = self.companion("Table of image id or file name, and class", "class file")
            return ClassOptions(file=name)
        if way == BY_CAPTIONS:
            left, right = st.columns(2)
            with left:
                name = self.companion("COCO captions", "captions")
            with right:
                words = self._words()
            return ClassOptions(captions=name, words=words if name else None)
        if table is not None and table.class_name is not None:
            st.caption(f"It is in the column {bold(table.class_name)}, as its head says.")
        return ClassOptions()

    def _categories(self, format_: str) -> dict[str, str]:
        def look() -> list[str]:
            with self.opened() as path:
                return category_names(path, format_)

        known: list[str] = []
        if format_ == self.file.format:
            known = cached_by_files(self.source, ("categories", self.file.name), look)
        chosen = st.multiselect(
            "Categories that are classes",
            known,
            key=self.key("categories"),
            placeholder="Choose two or more",
            help="An image with objects of exactly one of them has that class; these are then no "
            "concepts.",
        )
        return {name: name for name in chosen}

    def _words(self) -> str | None:
        lists = [file.name for file in self.others if file.name.endswith(".toml")]
        return st.selectbox(
            "Word list of the classes",
            [*word_list_names(), *lists],
            key=self.key("words"),
            help="A list that comes with cobalance, or a TOML file of your own.",
        )

    def _vocabulary(self) -> VocabularyOptions:
        left, right = st.columns(2)
        with left:
            name = self.companion(LABELS["vocabulary.file"], "vocabulary", "A concept a line.")
            mode = st.selectbox(
                LABELS["vocabulary.mode"],
                list(_MATCHES),
                format_func=_MATCHES.__getitem__,
                key=self.key("match"),
            )
        typed = right.text_area(
            "or a concept a line, variants after a colon",
            key=self.key("vocabulary lines"),
            placeholder="couch: sofa, settee\ndog",
            disabled=name is not None,
            height=125,
        )
        lines = () if name is not None else tuple(_split(typed))
        return VocabularyOptions(file=name, concepts=lines, mode=cast("MatchMode", mode))

    def _refinement(self) -> Refinement:
        left, middle, right = st.columns(3)
        min_score = left.number_input(
            LABELS["refine.min_score"],
            0.0,
            1.0,
            None,
            0.05,
            key=self.key("min score"),
            placeholder="any",
            help="Those without a score stay.",
        )
        min_area = middle.number_input(
            LABELS["refine.min_area_px2"],
            0.0,
            None,
            None,
            100.0,
            key=self.key("min area"),
            placeholder="any",
            help="Those without an area stay.",
        )
        with right:
            table = self.companion(
                LABELS["refine.concept_table"],
                "concept table",
                "Columns concept and becomes: renames, merges, and drops where becomes is empty.",
            )
        names = self._lines(
            left, "class_names", "0=landbird\n1=waterbird", "Two to one name merge."
        )
        classes = self._lines(middle, "classes", "all", "By their new names.")
        splits = self._lines(right, "splits", "all")
        return Refinement(
            min_score=min_score,
            min_area_px2=min_area,
            concept_table=table,
            class_names=pairs(names, needs_value=True),
            classes=tuple(classes),
            splits=tuple(splits),
        )

    def _lines(
        self, place: DeltaGenerator, option: str, placeholder: str, help_: str | None = None
    ) -> list[str]:
        """Draw the field of a refinement that takes a value a line."""
        label = LABELS[f"refine.{option}"]
        return _split(
            place.text_area(label, key=self.key(option), placeholder=placeholder, help=help_)
        )


def _split(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
