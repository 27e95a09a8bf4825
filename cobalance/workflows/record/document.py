"""Write a bias record: Croissant JSON-LD with findings, numbers to recompute, and provenance.

Its records are in the document itself: any reader of Croissant gives them, and so does `reading`.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cobalance.base import plain_values
from cobalance.generation import (
    CROISSANT_CONTEXT,
    CROISSANT_VERSIONS,
    Findings,
    describe_field,
)
from cobalance.statistics import COUNT, MAX_Q_VALUE, RATE
from cobalance.workflows.record.card import (
    bias_sentences,
    card_section,
    limit_sentences,
    measure_sentences,
)
from cobalance.workflows.record.examination import Examination

EXAMINATION, CLASSES, CONCEPTS = "bias_examination", "bias_classes", "bias_concepts"
COMBINATIONS, LEANS = "bias_combinations", "bias_leans"
DIFFERENCES, PROPERTIES = "bias_smallest_differences", "bias_properties"
DESIGN_EFFECTS = {"tests": "test_effects", "intervals": "interval_effects", "own": "own_effects"}
"""Columns of `COMBINATIONS` by the fields of `Clustering` that they hold."""
_METHOD = (
    "Images of each combination of concepts are counted exactly in each class. One rate in all "
    "classes is tested by the chi-square test or, where few images are expected, an exact one; "
    "q-values are those of Benjamini and Hochberg over all combinations."
)
_MEANINGS = {
    "dataset": "The name of the dataset.",
    "source": "Where its images were read from.",
    "made_with": "The program and its version.",
    "method": "How the numbers were made.",
    "query": "A command that gives them again.",
    "mining": "Options of counting, as JSON.",
    "images": "Images; of several classes in the order of bias_classes.",
    "combinations": "Combinations that were tested.",
    "leaning": "Those that lean to a class.",
    "max_q_value": "The largest q-value that is evidence.",
    "bits": "What concepts alone tell of the class of held-out images.",
    "bits_error": "Standard error of the bits.",
    "most_bits": "What tells the class for certain.",
    "groups_across_splits": "Clusters and groups of near duplicates in several splits.",
    "generated_images": "Images that were generated.",
    "left_out_images": "Images that tags leave out of the counts.",
    "class": "A class; of a property the one that it tells from all others.",
    "without_concepts": "Images that show no concept.",
    "concept": "A concept.",
    "concepts": "The concepts of a combination, ascending.",
    "rates": "Shares of each class's images, in the order of bias_classes.",
    "size": "How many concepts a combination has.",
    "clusters": "Clusters of images in which some image shows it.",
    "freedom": "Degrees of freedom within clusters; -1 where they do not count.",
    "test_effects": "Design effects of the test, by class.",
    "interval_effects": "Design effects of the interval, by class.",
    "own_effects": "Design effects of the own effect, by class.",
    "gap": "The largest count less the smallest.",
    "over_represented": "The class with the largest count.",
    "under_represented": "The class with the smallest count.",
    "lift": "How much oftener than by chance the class with the largest count shows it.",
    "log_odds_ratio": "Of the classes with the highest and the lowest rate, natural logarithm.",
    "log_odds_ratio_low": "Lower end of its interval.",
    "log_odds_ratio_high": "Upper end of its interval.",
    "p_value": "Of one rate in all classes; of a property, of one distribution.",
    "q_value": "Benjamini-Hochberg over all that were tested.",
    "test": "The test.",
    "effect": "The largest rate less the smallest; of a property, in_class less in_others.",
    "highest_rate": "The class with the highest rate.",
    "lowest_rate": "The class with the lowest rate.",
    "disagreement": "Where rates contradict counts, in words.",
    "share": "Share of all images that show a combination.",
    "classes": "Two classes that differ.",
    "difference": "The difference of their rates.",
    "property": "A property of image files, with the text where it is one.",
    "in_class": "Its median, or the share of images that have the text, in the class.",
    "in_others": "The same in all other classes.",
    "auc": "How probably an image of the class has more of it than another one.",
    "auc_low": "Lower end of its 95% interval.",
    "auc_high": "Upper end of its 95% interval.",
}


class RecordSet(NamedTuple):
    """Records of one kind; columns of lists are arrays."""

    identity: str
    meaning: str
    frame: pd.DataFrame

    def to_json(self) -> dict[str, Any]:
        """As Croissant has it; numbers that are not defined are null."""
        fields, keys, columns = [], [], []
        for name in map(str, self.frame):
            values = plain_values(self.frame[name])
            data_type, is_array = _type_of(values)
            field = describe_field(
                self.identity, name, _MEANINGS[name], data_type, is_array=is_array
            )
            fields.append(field)
            keys.append(field["@id"])
            columns.append(map(_finite, values))

        data = [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]

        return {
            "@type": "cr:RecordSet",
            "@id": self.identity,
            "name": self.identity,
            "description": self.meaning,
            "field": fields,
            "data": data,
        }


def write_document(examined: Examination) -> bytes:
    """Write the record as a document of its own: the same bytes for the same numbers."""
    name = examined.name
    document = {
        "@context": CROISSANT_CONTEXT,
        "@type": "sc:Dataset",
        "name": name,
        "description": f"What {examined.made_with} found when it examined {name} for biases.",
        "conformsTo": CROISSANT_VERSIONS,
        **{f"rai:{key}": texts for key, texts in responsible_ai(examined).items()},
        **further_properties(examined),
    }
    return _lines(document).encode()


def findings_of(examined: Examination) -> Findings:
    """The same for an export, whose metadata and data card they become part of."""
    return Findings(
        rai=responsible_ai(examined),
        properties=further_properties(examined),
        section=card_section(examined),
    )


def _lines(document: Mapping[str, Any]) -> str:
    """As JSON with a line for each property and each record, so that versions can be compared."""
    properties = []
    for name, value in document.items():
        if name == "recordSet":
            text = "[" + ",\n".join(map(_record_lines, value)) + "]"
        else:
            text = _text(value)
        properties.append(f"{_text(name)}: {text}")
    return "{\n" + ",\n".join(properties) + "\n}\n"


def _record_lines(part: Mapping[str, Any]) -> str:
    records = ",\n ".join(map(_text, part["data"]))

    # The records are the last of its properties.
    described = _text({**part, "data": []})
    return described.removesuffix("]}") + f"\n {records}\n]}}"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def responsible_ai(examined: Examination) -> dict[str, list[str]]:
    """Properties of Croissant's vocabulary of responsible AI."""
    sentences = {
        "dataBiases": bias_sentences(examined),
        "dataLimitations": limit_sentences(examined),
        "dataManipulationProtocol": measure_sentences(examined),
    }
    # A property without a value says nothing.
    return {name: texts for name, texts in sentences.items() if texts}


def further_properties(examined: Examination) -> dict[str, Any]:
    """Provenance of generated images, and all findings and numbers as records."""
    # Croissant has no record set without records.
    sets = filter(lambda part: len(part.frame), record_sets(examined))
    properties: dict[str, Any] = {"recordSet": list(map(RecordSet.to_json, sets))}

    if examined.activities:
        properties["prov:wasGeneratedBy"] = list(examined.activities)
    return properties


def record_sets(examined: Examination) -> Iterator[RecordSet]:
    """All findings and numbers as records."""
    yield RecordSet(EXAMINATION, "What was examined, and how.", _examination_frame(examined))

    classes = {"class": [*examined.class_images], "images": examined.cliques.class_sizes}
    if examined.without_concepts is not None:
        classes["without_concepts"] = examined.without_concepts
    yield RecordSet(CLASSES, "The classes that were compared.", pd.DataFrame(classes))

    concepts = {"concept": examined.concepts, "images": examined.concept_images.tolist()}
    yield RecordSet(CONCEPTS, "All concepts.", pd.DataFrame(concepts))

    combinations = _combination_frame(examined)
    yield RecordSet(COMBINATIONS, "All combinations that were tested.", combinations)
    yield RecordSet(LEANS, "Combinations that lean to a class.", _lean_frame(examined))

    yield RecordSet(
        DIFFERENCES,
        "The smallest differences of rates that 80 of 100 such datasets would have shown.",
        pd.DataFrame(examined.smallest_differences()),
    )
    if examined.properties is not None:
        yield RecordSet(PROPERTIES, "Properties of image files.", examined.properties)


def _examination_frame(examined: Examination) -> pd.DataFrame:
    bits = examined.bits
    of_bits = {}
    if bits is not None:
        of_bits = {"bits": bits.value, "bits_error": bits.error, "most_bits": bits.most}

    row = {
        "dataset": examined.name,
        "source": examined.source,
        "made_with": examined.made_with,
        "method": _METHOD,
        "query": examined.query,
        "mining": examined.options.to_json(),
        "images": examined.n_images,
        "combinations": len(examined.cliques),
        "leaning": len(examined.leans),
        "max_q_value": MAX_Q_VALUE,
        **of_bits,
        "groups_across_splits": examined.n_across,
        "generated_images": examined.n_generated,
        "left_out_images": examined.n_left_out,
    }
    return pd.DataFrame([row])


def _combination_frame(examined: Examination) -> pd.DataFrame:
    """All counts, with the design effects of clusters."""
    cliques, clustering = examined.cliques, examined.cliques.clustering
    columns: dict[str, Any] = {
        "concepts": list(map(list, cliques.names())),
        "images": cliques.counts.tolist(),
    }

    if clustering is not None:
        columns |= {"clusters": clustering.standing, "freedom": clustering.freedom}
        for field, name in DESIGN_EFFECTS.items():
            columns[name] = getattr(clustering, field).tolist()
    return pd.DataFrame(columns)


def _lean_frame(examined: Examination) -> pd.DataFrame:
    """The combinations that lean, with all their statistics."""
    leans, names = examined.leans, examined.cliques.classes
    counts, rates = [COUNT + name for name in names], [RATE + name for name in names]
    arrays = pd.DataFrame(
        {
            "concepts": leans["concepts"].map(list),
            "images": leans[counts].to_numpy().tolist(),
            "rates": leans[rates].to_numpy().tolist(),
        },
        index=leans.index,
    )
    return arrays.join(leans.drop(columns=["concepts", "leans", *counts, *rates]))


def _type_of(values: list[Any]) -> tuple[str, bool]:
    """Croissant's name of a column's type, and whether it holds arrays."""
    known = next((value for value in values if value is not None and value != []), "")
    if isinstance(known, list | tuple):
        return _type_of(list(known))[0], True
    if isinstance(known, bool):
        return "sc:Boolean", False
    types: dict[type, str] = {int: "sc:Integer", float: "sc:Float"}
    return types.get(type(known), "sc:Text"), False


def _finite(value: Any) -> Any:
    """A number as JSON has it: None where it is not finite."""
    if isinstance(value, list | tuple):
        return list(map(_finite, value))
    return None if isinstance(value, float) and not np.isfinite(value) else value
