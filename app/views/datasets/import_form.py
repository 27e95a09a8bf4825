"""Form of an import's options: those of the file's format, with choices read from the file."""

from pathlib import Path
from typing import cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.services.datasets import default_dataset_name
from app.services.import_sources import Source
from app.services.imports import ImportRequest, pairs
from app.views.datasets.chosen_file import ChosenFile, cached_by_files
from app.views.widgets.tables import draw_table, grid
from app.views.widgets.wording import (
    BY_CAPTIONS,
    BY_CATEGORY,
    BY_COLUMN,
    BY_FILE,
    BY_OWN_CAPTIONS,
    LABELS,
    ON_ERROR,
)
from graph.names import clean_name
from ingest.concepts.word_lists import word_list_names
from ingest.formats import FORMATS
from ingest.options import (
    ClassOptions,
    MatchMode,
    OnError,
    ReadOptions,
    Refinement,
    TableOptions,
    VocabularyOptions,
)
from ingest.preview import FoundFile, TableSample, category_names, sample_table
from ingest.tables import TABLES
from ingest.tables.columns import USUAL_NAMES

_MATCHES = {"words": "Whole words and plurals", "substring": "Any text"}
_CLASS, _COLUMN_MAP = "Class", "Columns"
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
        left, right = st.columns([1.6, 1], vertical_alignment="bottom")
        replace = left.checkbox(
            LABELS["replace"], key=form.key("replace"), help="Otherwise they stay."
        )
        with right:
            captions = form.companion(
                LABELS["captions"],
                "kept captions",
                "COCO captions, or a table of image id or file name, and caption: for recipes that "
                "edit images, whose prompts are made of them.",
            )
        format_ = input_format or file.format or ""
        form.preview(format_)
        options = form.options(format_, split, cast("OnError", on_error), captions)
    return ImportRequest(file.name, clean_name(dataset), options, input_format, replace)


class _Form(ChosenFile):
    """The fields that depend on the file and its format."""

    def options(
        self, format_: str, split: str, on_error: OnError, captions: Path | None
    ) -> ReadOptions:
        """Draw the options of this format."""
        uses = FORMATS[format_].uses
        titles = [
            _CLASS,
            *([_COLUMN_MAP] if format_ in TABLES else []),
            *([_CAPTIONS] if "vocabulary" in uses else []),
            _KEPT,
        ]
        start = _CAPTIONS if format_ == "coco-captions" else _CLASS
        tabs = dict(zip(titles, st.tabs(titles, default=start), strict=True))
        with tabs[_CLASS]:
            classes = self._classes(format_, uses)
            class_column = st.container()
        vocabulary = VocabularyOptions()
        if _CAPTIONS in tabs:
            with tabs[_CAPTIONS]:
                vocabulary = self._vocabulary()
        table = TableOptions()
        if _COLUMN_MAP in tabs:
            searched = bool(vocabulary) or (classes.words is not None and classes.captions is None)
            with tabs[_COLUMN_MAP]:
                table = self._table(self._sample(format_, captions=searched), class_column)
        with tabs[_KEPT]:
            refine = self._refinement()
        return ReadOptions(
            table=table,
            classes=classes,
            vocabulary=vocabulary,
            captions=captions,
            refine=refine,
            split=clean_name(split) or None,
            on_error=on_error,
        )

    def _sample(self, format_: str, *, captions: bool) -> TableSample:
        def look() -> TableSample:
            with self.opened() as path:
                return sample_table(path, format_, captions=captions)

        return cached_by_files(self.source, ("sample", self.file.name, format_, captions), look)

    def preview(self, format_: str) -> None:
        """Draw the first rows of a table."""
        if format_ in TABLES:
            rows = self._sample(format_, captions=False).rows.head(5)
            draw_table(rows, None)

    def _classes(self, format_: str, uses: frozenset[str]) -> ClassOptions:
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

    def _table(self, sample: TableSample, class_column: DeltaGenerator) -> TableOptions:
        """Draw the columns' roles; that of the class where the class is chosen."""
        roles: dict[str, str | None] = {}
        others = [role for role in USUAL_NAMES if role != "class_name"]
        places = zip(others, grid(len(others), 3), strict=True)
        for role, place in (("class_name", class_column), *places):
            guess = sample.roles.get(role)
            if role == "concepts" and sample.indicators:
                guess = f"{len(sample.indicators)} columns of 0 and 1"
            roles[role] = place.selectbox(
                LABELS[f"table.{role}"],
                sample.columns,
                index=None,
                placeholder=f"automatic: {guess or 'none'}",
                key=self.key(f"column {role}"),
            )
        left, right = st.columns([2, 1])
        indicators = left.multiselect(
            LABELS["table.concept_columns"],
            sample.columns,
            key=self.key("concept columns"),
            placeholder="automatic where no column holds concepts",
        )
        delimiter = right.text_input(
            LABELS["table.delimiter"],
            key=self.key("delimiter"),
            placeholder="automatic: | or ; or ,",
        )
        return TableOptions(**roles, concept_columns=tuple(indicators), delimiter=delimiter or None)

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
