"""Form of an import's options, with choices read from the file."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cobalance.app.web.page.load.chosen_file import ChosenFile
from cobalance.app.web.page.load.column_heads import draw_heads, say_missing
from cobalance.app.web.state import session
from cobalance.app.web.widgets import IF_EXISTS, LABELS, ON_ERROR, bold
from cobalance.base import clean_name
from cobalance.graph import PER_CLASS, Sample
from cobalance.ingest import (
    FORMATS,
    WHOLE_FOLDER,
    FoundFile,
    ReadOptions,
    category_names,
    code_names,
    is_table,
    pairs,
    sample_table,
    word_list_names,
)
from cobalance.workflows import ImportRequest, Source, default_dataset_name

# The path pattern that a person has taken from the check's notes, until its field shows it.
PATTERN = "_import_pattern"
_MATCHES = {"words": "Whole words and plurals", "substring": "Any text"}
_CLASS, _BY_COLUMN, _BY_FOLDER = "Class", "Column", "Its folder"


def import_form(source: Source, file: FoundFile, others: list[FoundFile]) -> ImportRequest:
    """Draw the form; return the import that it describes."""
    form = _Form(source, file, others)
    dataset = clean_name(form.dataset())
    # What few need waits below what the file leaves open.
    basics = st.container()
    more = st.expander("More", icon=":material/tune:")

    with more:
        first, second = st.columns(2)
        input_format = form.input_format(first)
        on_error = form.choice(second, "on_error", ON_ERROR)
        split = form.field(
            first.text_input, "split", placeholder="as the file says", help="Such as train."
        )
        path_pattern = form.path_pattern(second)
        sampled = form.sampled(st)
        names = [other.name for other in others]
        join = form.field(st.multiselect, "join", names, placeholder="More about the images")
        captions = form.companion(
            LABELS["captions"],
            "kept captions",
            "COCO captions, or a table of image id or file name, and caption: for recipes that "
            "edit images, whose prompts are made of them.",
        )

    # Whoever loads into a dataset that is there says what becomes of its images.
    is_there = dataset in list(session.datasets()["dataset"])
    if_exists = form.choice(basics if is_there else more, "if_exists", IF_EXISTS)
    options = replace(
        form.options(basics, more, input_format or file.format or ""),
        captions=captions,
        path_pattern=path_pattern or None,
        join=tuple(map(Path, join)),
        split=clean_name(split) or None,
        on_error=on_error,
    )
    return ImportRequest(
        file=file.name,
        dataset=dataset,
        options=options,
        input_format=input_format,
        if_exists=if_exists,
        sample=Sample() if sampled else None,
    )


class _Form(ChosenFile):
    """The fields that depend on the file and its format."""

    def field(self, draw: Callable[..., Any], option: str, *values: Any, **look: Any) -> Any:
        """Draw the field of an option by one of Streamlit's functions; return its value."""
        return draw(LABELS[option], *values, key=self.key(option), **look)

    def choice(self, place: Any, option: str, texts: Mapping[str, str]) -> Any:
        """Draw the choice of one of an option's values, of which there are texts."""
        return self.field(place.selectbox, option, list(texts), format_func=texts.__getitem__)

    def input_format(self, place: DeltaGenerator) -> str | None:
        """Draw the choice of the format; None for the one that was found."""
        automatic = f"{self.file.format} (found)"
        names = [automatic, *dict(FORMATS.items())]
        chosen: str | None = self.field(place.selectbox, "input_format", names)
        return None if chosen == automatic else chosen

    def dataset(self) -> str:
        """Draw the dataset's name, at first that of the file, or of one in a whole folder."""
        file = self.file
        if self.others and file.name == WHOLE_FOLDER:
            file = self.others[0]

        return st.text_input(
            "Dataset",
            default_dataset_name(file.name),
            key=self.key("dataset"),
            help="A new name makes a new dataset; a known one brings that dataset up to date.",
        )

    def sampled(self, place: Any) -> bool:
        """Draw the choice between all images and a sample of them."""
        texts = {False: "All", True: f"A sample of {PER_CLASS} per clique"}
        return self.field(
            place.segmented_control,
            "sample",
            list(texts),
            default=False,
            required=True,
            format_func=texts.__getitem__,
            help="Every count is kept either way, so that the numbers are the same. A sample of "
            "each clique and class is for millions of images; it has no boxes and no captions.",
        )

    def row_options(self, options: ReadOptions) -> ReadOptions:
        """Draw how a table's cells and rows are read, where its columns have roles for it."""
        if options.concepts_column is not None:
            delimiter = self.field(st.text_input, "delimiter", placeholder="automatic: | or ; or ,")
            options = replace(options, delimiter=delimiter or None)

        if options.about_columns:
            each_row = self.field(st.checkbox, "each_row", help="Else rows of an id are merged.")
            options = replace(options, each_row=each_row)
        return options

    def path_pattern(self, place: DeltaGenerator) -> str:
        """Draw the pattern of the images' paths."""
        # One that was offered below the form has to be set before its field is drawn.
        if PATTERN in st.session_state:
            st.session_state[self.key("path_pattern")] = st.session_state.pop(PATTERN)

        return self.field(
            place.text_input,
            "path_pattern",
            placeholder="{split}/{context}/{class}/*",
            help="What the end of each image's path names; the check says what folders may be.",
        )

    def options(self, basics: DeltaGenerator, more: DeltaGenerator, format_: str) -> ReadOptions:
        """Draw a table's columns and the options of a format, in the places for either."""
        uses = FORMATS[format_].reader.uses
        options = ReadOptions()
        with basics:
            if is_table(format_):
                options = draw_heads(self, self.read_once(sample_table, format_))
            classes = self._classes(format_, uses, options.class_column)
        with more:
            options = self.row_options(options)
        chosen = dict(classes)
        if "vocabulary" in uses:
            # Captions alone have no concepts but those that are looked for.
            with basics if format_ == "coco-captions" else more:
                chosen |= self._vocabulary()

        if is_table(format_):
            elsewhere = any(classes.values())
            searched = bool(chosen.get("vocabulary"))
            with basics:
                say_missing(options, class_elsewhere=elsewhere, searched=searched)
            # A class that comes from elsewhere goes before the column's.
            if elsewhere:
                chosen["class_column"] = None

        with more:
            chosen |= self._refinement()
        chosen["field"] = {**options.field, **chosen["field"]}
        return replace(options, **chosen)

    def _classes(self, format_: str, uses: frozenset[str], column: str | None) -> dict[str, Any]:
        """Draw where an image's class is read from; return the options that say so."""
        has_own_captions = "own captions" in uses
        is_offered = {
            _BY_FOLDER: "folders" in uses,
            _BY_COLUMN: "table" in uses and "folders" not in uses,
            LABELS["class_category"]: "categories" in uses,
            LABELS["class_words"]: has_own_captions,
            LABELS["class_file"]: True,
            # Captions of another file are of no use to a file of captions alone.
            LABELS["class_captions"]: "table" in uses or not has_own_captions,
        }
        ways = [way for way, offered in is_offered.items() if offered]
        # A table of classes beside annotations that name none is there for them.
        tables = [] if uses & {"folders", "table"} else list(filter(self._has_classes, self.others))
        way = st.segmented_control(
            "An image's class is in",
            ways,
            default=LABELS["class_file"] if tables else ways[0],
            required=True,
            key=self.key("class"),
        )
        if way == LABELS["class_category"]:
            return {"class_category": self._categories(format_)}
        if way == LABELS["class_words"]:
            return {"class_words": self._words()}
        if way == LABELS["class_file"]:
            name = self.companion(
                "Table of image id or file name, and class", "class file", chosen=tables
            )
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

    def _has_classes(self, file: FoundFile) -> bool:
        """Whether a file is a table with a column of classes."""
        if not is_table(file.format):
            return False
        table = ChosenFile(self.source, file, [])
        guesses = table.read_once(sample_table, file.format or "").guesses
        return any("class" in guess.roles for guess in guesses.values())

    def _categories(self, format_: str) -> dict[str, str]:
        """Draw the choice of the categories that are classes; of another format none are known."""
        names = []
        if format_ == self.file.format:
            names = self.read_once(category_names, format_)

        chosen = st.multiselect(
            "Categories that are classes",
            names,
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
        """Draw the concepts to look for in captions: a file of them, or else typed ones."""
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
        """Draw which mentions, classes and splits are loaded, and under which names."""
        left, right = st.columns(2)
        min_score = self.field(
            left.number_input,
            "min_score",
            0.0,
            1.0,
            None,
            0.05,
            placeholder="any",
            help="Those without a score stay.",
        )
        min_area_px2 = self.field(
            right.number_input,
            "min_area_px2",
            0.0,
            None,
            None,
            100.0,
            placeholder="any",
            help="Those without an area stay.",
        )
        with left:
            table = self.companion(
                LABELS["concept_table"],
                "concept table",
                "Columns concept and becomes: renames, merges, and drops where becomes is empty.",
            )

        names = self._lines(
            left, "rename_class", "0=landbird\n1=waterbird", "Two to one name merge."
        )
        classes = self._lines(right, "keep_class", "all", "By their new names.")
        splits = self._lines(right, "keep_split", "all")
        becomes = self._lines(left, "field", "age=bins:18,30:years\ntaken=month")
        codes = self._lines(right, "names", "place:0=land,1=water")
        return {
            "min_score": min_score,
            "min_area_px2": min_area_px2,
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
