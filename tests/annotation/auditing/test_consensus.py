import pytest

from cobalance.annotation.auditing.consensus import consensus


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (["vintage", "vintage", "bohemian"], "vintage"),
        (["unknown", "unknown", "formal"], "formal"),
        (["a", "b"], None),
        (["unknown", "unknown", "a", "b"], None),
        (["unknown"], "unknown"),
        (["unknown", "a"], None),
        (["a"], "a"),
        ([], None),
    ],
)
def test_consensus(answers, expected):
    assert consensus(answers) == expected
    assert consensus(answers[::-1]) == expected
