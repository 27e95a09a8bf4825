"""Method of a report, in sentences with their sources."""

from collections.abc import Iterator

from cobalance.graph.diagnosis.evidence import MAX_Q_VALUE
from cobalance.workflows.report.contents import Contents


def method(found: Contents) -> Iterator[str]:
    """Paragraphs on the method, including comparisons, plans and audits if the report has them."""
    yield (
        "Each combination of concepts is a clique of the concept graph, and its images are counted "
        "exactly in each class (Chakraborty et al., Visual Data Diagnosis and Debiasing with "
        "Concept Graphs, NeurIPS 2024, arXiv:2409.18055, section 3). Its gap is the largest of "
        "these counts less the smallest."
    )
    yield (
        "The odds ratio compares the class with most images of a combination with the class with "
        f"fewest: the odds that an image shows it, with Woolf's {found.mining.confidence:.0%} "
        "interval (Annals of Human Genetics 1955), and half an image added to each cell of a table "
        "with an empty one (Haldane 1956, Anscombe 1956)."
    )
    yield (
        "Tables are in the order of evidence: combinations with a q-value of at most "
        f"{MAX_Q_VALUE} first, each part by the largest rate less the smallest, then the others. "
        "The count gap, which ConBias ranks by, has a column. Where classes have different numbers "
        "of images, the class with the fewest images of a combination may not be the one with the "
        "lowest rate, and the row says so."
    )
    tests = sorted({str(name) for name in found.largest.get("test", [])} - {"none"})
    named = f" Tests of the imbalances above: {', '.join(tests)}." if tests else ""
    yield (
        "p-values are of equal rates in all classes: Fisher's exact test where an expected count "
        "is below five and there are two classes, else the chi-square test of homogeneity. "
        "q-values adjust them over all combinations (Benjamini and Hochberg, Journal of the Royal "
        f"Statistical Society B 1995).{named}"
    )
    yield (
        "What is a combination's own: observed less expected rates, where the hierarchical "
        "log-linear model with all interactions but the highest one says what its parts explain "
        "(Bishop, Fienberg and Holland, Discrete Multivariate Analysis, 1975; Agresti, Categorical "
        "Data Analysis, 2013, chapter 9); likelihood-ratio tests, exact ones where counts are "
        "small. Groups are communities of concepts (Leiden; Traag, Waltman and van Eck, Scientific "
        "Reports 2019)."
    )
    if found.comparison is not None:
        yield (
            "Closed: a gap before and none after. Opened: none before and one after. A combination "
            "is absent where it was not counted in the other dataset."
        )
    if found.plan is not None:
        yield (
            "What remains after the plan is simulated: each planned image counts in every "
            "combination of the concepts that it is made for, and shows no others."
        )
    if found.corrections is not None:
        yield (
            "Corrected counts add up, for each class, the labelled images that show the concept by "
            "the share that people confirm, and the others by the share that people find missed."
        )
