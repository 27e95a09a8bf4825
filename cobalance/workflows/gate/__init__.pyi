from . import (
    baseline as baseline,
    formats as formats,
    rules as rules,
    stored as stored,
    subjects as subjects,
    verdict as verdict,
)
from .baseline import read_baseline as read_baseline, write_baseline as write_baseline
from .formats import write_verdict as write_verdict
from .rules import check_rules as check_rules, read_rules as read_rules
from .stored import from_store as from_store
from .subjects import from_annotations as from_annotations
from .verdict import Verdict as Verdict, judge as judge, judge_split as judge_split
