"""Regular expressions. What each expression gives, and costs, is what Kubernetes 1.34 answered."""

import pytest

from tests.support.kubekit.cel_builders import compile_failure, evaluated

VALUES = [
    ('"abc".matches("a+")', True, 1),
    ("'foo'.matches('^f.o$')", True, 2),
    ("'foo'.matches('')", True, 0),
    ("matches('foo', 'o{2}')", True, 1),
    ("'a\\nb'.matches('^a$')", False, 1),
    ("'a\\nb'.matches('(?m)^a$')", True, 2),
    ("'abc 123'.find('[0-9]+')", "123", 2),
    ("'abc'.find('[0-9]+')", "", 2),
    ("'123 abc 456'.findAll('[0-9]+')", ["123", "456"], 4),
    ("'123 abc 456'.findAll('[0-9]+', 1)", ["123"], 4),
    ("'123 abc 456'.findAll('[0-9]+', 0)", [], 4),
    ("'123 abc 456'.findAll('[0-9]+', -1)", ["123", "456"], 4),
    ("'abc'.findAll('b*')", ["", "b", ""], 1),
    ("'aab'.findAll('a*')", ["aa", ""], 1),
    ("'日本語'.find('本')", "本", 1),
]
REFUSALS = [
    (
        "'a'.matches('[')",
        "ERROR: <input>:1:13: invalid matches argument\n | 'a'.matches('[')\n | ............^",
    ),
]


@pytest.mark.parametrize(("expression", "value", "cost"), VALUES)
def test_regexes_give(expression, value, cost):
    """The patterns give the value, of that very type, at that cost."""
    assert evaluated(expression) == (value, type(value), cost)


@pytest.mark.parametrize(("expression", "words"), REFUSALS)
def test_regexes_are_refused(expression, words):
    """What can never have a value is refused before it is evaluated."""
    assert compile_failure(expression) == words
