from .baseline import (
    Baseline as Baseline,
    read_baseline as read_baseline,
    write_baseline as write_baseline,
)
from .formats import FORMATS as FORMATS, write_verdict as write_verdict
from .rules import (
    FILE as FILE,
    LeanRule as LeanRule,
    Rules as Rules,
    check_rules as check_rules,
    read_rules as read_rules,
)
from .stored import from_store as from_store
from .subjects import (
    Subject as Subject,
    from_annotations as from_annotations,
    from_file as from_file,
)
from .verdict import (
    Finding as Finding,
    Verdict as Verdict,
    judge as judge,
    judge_split as judge_split,
)
