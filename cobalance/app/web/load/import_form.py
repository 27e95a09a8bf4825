"""Form of an import's options, with choices read from the file."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cobalance.app.web.load.chosen_file import ChosenFile
from cobalance.app.web.load.column_heads import draw_heads, say_missing
from cobalance.app.web.widgets.theme import bold
from cobalance.app.web.widgets.wording import IF_EXISTS, LABELS, ON_ERROR
from cobalance.base.names import clean_name
from cobalance.graph.dataset.sampled import PER_CLASS, Sample
from cobalance.ingest.concepts.word_lists import word_list_names
from cobalance.ingest.formats import FORMATS
from cobalance.ingest.options import ReadOptions, code_names, pairs
from cobalance.ingest.preview import WHOLE_FOLDER, FoundFile, category_names, sample_table
from cobalance.ingest.tables import TABLES
from cobalance.workflows.load.check import ImportRequest
from cobalance.workflows.load.dataset import default_dataset_name
from cobalance.workflows.load.sources import Source

PATTERN = "_import_pattern"  # that the check has offered and a person chosen, until it is shown
_MATCHES = {"words": "Whole words and plurals", "substring": "Any text"}
_CLASS, _BY_COLUMN, _BY_FOLDER = "Class", "Column", "Its folder"
_CAPTIONS, _KEPT = "Concepts from captions", "What to keep, and under which names"


def import_form(source: Source, file: FoundFile, others: list[FoundFile]) -> ImportRequest:
    """Draw the form; return the import that it describes."""
    form = _Form(source, file, others)
    named = others[0] if others and file.name == WHOLE_FOLDER else file
    with st.container(border=True):
        columns = st.columns([1.2, 1.4, 1, 1])
        automatic = f"{file.format} (found)"
        chosen = form.field(
            columns[0].selectbox, "input_format", [automatic, *dict(FORMATS.items())]
        )
        input_format = None if chosen in (automatic, None) else chosen
        dataset = columns[1].text_input(
            "Dataset",
            default_dataset_name(named.name),
            key=form.key("dataset"),
            help="A new name makes a new dataset; a known one brings that dataset up to date.",
        )
        split = form.field(
            columns[2].text_input, "split", placeholder="as the file says", help="Such as train."
        )
        on_error = form.choice(columns[3], "on_error", ON_ERROR)
        format_ = input_format or file.format or ""
        options = form.columns(format_)
        images, separator, kept = st.columns([1.3, 1, 1])
        sampled = form.field(
            images.segmented_control,
            "sample",
            [False, True],
            default=False,
            required=True,
            format_func=lambda few: f"A sample of {PER_CLASS} per clique" if few else "All",
            help="Every count is kept either way, so that the numbers are the same. A sample of "
            "each clique and class is for millions of images; it has no boxes and no captions.",
        )
        if options.concepts_column is not None:
            delimiter = form.field(
                separator.text_input, "delimiter", placeholder="automatic: | or ; or ,"
            )
            options = replace(options, delimiter=delimiter or None)
        if options.about_columns:
            each_row = form.field(
                separator.checkbox, "each_row", help="Else rows of an id are merged."
            )
            options = replace(options, each_row=each_row)
        with kept:
            captions = form.companion(
                LABELS["captions"],
                "kept captions",
                "COCO captions, or a table of image id or file name, and caption: for recipes that "
                "edit images, whose prompts are made of them.",
            )
        pattern, joined = st.columns(2)
        if PATTERN in st.session_state:
            st.session_state[form.key("path_pattern")] = st.session_state.pop(PATTERN)
        path_pattern = form.field(
            pattern.text_input,
            "path_pattern",
            placeholder="{split}/{context}/{class}/*",
            help="What the end of each image's path names; the check says what folders may be.",
        )
        names = [other.name for other in others]
        join = form.field(joined.multiselect, "join", names, placeholder="More about the images")
        if_exists = form.choice(st, "if_exists", IF_EXISTS)
        options = replace(
            form.options(format_, options),
            captions=captions,
            path_pattern=path_pattern or None,
            join=tuple(map(Path, join)),
            split=clean_name(split) or None,
            on_error=on_error,
        )
    sample = Sample() if sampled else None
    return ImportRequest(file.name, clean_name(dataset), options, input_format, if_exists, sample)


class _Form(ChosenFile):
    """The fields that depend on the file and its format."""

    def field(self, draw: Callable[..., Any], option: str, *values: Any, **look: Any) -> Any:
        """Draw the field of an option by one of Streamlit's functions; return its value."""
        return draw(LABELS[option], *values, key=self.key(option), **look)

    def choice(self, place: Any, option: str, texts: Mapping[str, str]) -> Any:
        """Draw the choice of one of an option's values, of which there are texts."""
        return self.field(place.selectbox, option, list(texts), format_func=texts.__getitem__)

    def columns(self, format_: str) -> ReadOptions:
        """Draw the first rows of a table with the role of each column; nothing for others."""
        if format_ not in TABLES:
            return ReadOptions()
        return draw_heads(self, self.read_once(sample_table, format_))

    def options(self, format_: str, options: ReadOptions) -> ReadOptions:
        """Draw the options of this format, in addition to its columns."""
        uses = FORMATS[format_].reader.uses
        titles = [_CLASS, *([_CAPTIONS] if "vocabulary" in uses else []), _KEPT]
        start = _CAPTIONS if format_ == "coco-captions" else _CLASS
        tabs = dict(zip(titles, st.tabs(titles, default=start), strict=True))
        with tabs[_CLASS]:
            classes = self._classes(format_, uses, options.class_column)
        given = dict(classes)
        if _CAPTIONS in tabs:
            with tabs[_CAPTIONS]:
                given |= self._vocabulary()
        if format_ in TABLES:
            elsewhere = any(classes.values())
            say_missing(options, class_elsewhere=elsewhere, searched=bool(given.get("vocabulary")))
            if elsewhere:
                given["class_column"] = None
        with tabs[_KEPT]:
            given |= self._refinement()
        given["field"] = {**options.field, **given["field"]}
        return replace(options, **given)

    def _classes(self, format_: str, uses: frozenset[str], column: str | None) -> dict[str, Any]:
        ways = [
            *([_BY_FOLDER] if "folders" in uses else [_BY_COLUMN] if "table" in uses else []),
            *([LABELS["class_category"]] if "categories" in uses else []),
            *([LABELS["class_words"]] if "own captions" in uses else []),
            LABELS["class_file"],
            *([LABELS["class_captions"]] if "own captions" not in uses or "table" in uses else []),
        ]
        way = st.segmented_control(
            "An image's class is in", ways, default=ways[0], required=True, key=self.key("class")
        )
        if way == LABELS["class_category"]:
            return {"class_category": self._categories(format_)}
        if way == LABELS["class_words"]:
            return {"class_words": self._words()}
        if way == LABELS["class_file"]:
            name = self.companion("Table of image id or file name, and class", "class file")
            return {"class_file": name}
        if way == LABELS["class_captions"]:
            left, right = st.columns(2)
            with left:
                name = self.companion("COCO captions", "captions")
            with right:
                words = self._words()
            return {"class_captions": name, "class_words": words if name else None}
        if column is not None:
            st.caption(f"It is in the column {bold(column)}, as its head says.")
        return {}

    def _categories(self, format_: str) -> dict[str, str]:
        is_found = format_ == self.file.format
        chosen = st.multiselect(
            "Categories that are classes",
            self.read_once(category_names, format_) if is_found else [],
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

    def _vocabulary(self) -> dict[str, Any]:
        left, right = st.columns(2)
        with left:
            name = self.companion(LABELS["vocabulary"], "vocabulary", "A concept a line.")
            mode = self.choice(st, "match", _MATCHES)
        typed = right.text_area(
            "or a concept a line, variants after a colon",
            key=self.key("vocabulary lines"),
            placeholder="couch: sofa, settee\ndog",
            disabled=name is not None,
            height=125,
        )
        return {"vocabulary": name or tuple(_split(typed)), "match": mode}

    def _refinement(self) -> dict[str, Any]:
        left, middle, right = st.columns(3)
        least = {
            option: self.field(
                *(place.number_input, option, 0.0, most, None, step),
                placeholder="any",
                help=f"Those without {what} stay.",
            )
            for place, option, most, step, what in (
                (left, "min_score", 1.0, 0.05, "a score"),
                (middle, "min_area_px2", None, 100.0, "an area"),
            )
        }
        with right:
            table = self.companion(
                LABELS["concept_table"],
                "concept table",
                "Columns concept and becomes: renames, merges, and drops where becomes is empty.",
            )
        names = self._lines(
            left, "rename_class", "0=landbird\n1=waterbird", "Two to one name merge."
        )
        classes = self._lines(middle, "keep_class", "all", "By their new names.")
        splits = self._lines(right, "keep_split", "all")
        becomes = self._lines(left, "field", "age=bins:18,30:years\ntaken=month")
        codes = self._lines(middle, "names", "place:0=land,1=water")
        return {
            **least,
            "concept_table": table,
            "rename_class": pairs(names, needs_value=True),
            "keep_class": tuple(classes),
            "keep_split": tuple(splits),
            "field": pairs(becomes, needs_value=True),
            "names": code_names(codes),
        }

    def _lines(
        self, place: DeltaGenerator, option: str, placeholder: str, help_: str | None = None
    ) -> list[str]:
        """Draw the field of an option that takes a value a line."""
        return _split(self.field(place.text_area, option, placeholder=placeholder, help=help_))


def _split(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
