"""Attributes that models propose and label, and how far their labels can be trusted."""

PUBLIC = (
    "annotators",
    "annotators.annotator",
    "annotators.linear_probe",
    "auditing",
    "labelling",
    "labelling.score_files",
    "language",
    "measuring",
    "proposing",
    "proposing.extract",
    "proposing.propose",
)
"""Modules that other rooms may import; a test compares them with the imports."""
