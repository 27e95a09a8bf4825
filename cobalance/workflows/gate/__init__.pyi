from . import (
    baseline as baseline,
    formats as formats,
    rules as rules,
    stored as stored,
    subjects as subjects,
    verdict as verdict,
)
