"""One condition on one label."""

import pytest

from kubekit.api.selectors.label_requirement import Operator, Requirement, SelectorError


def requirement(operator, *values, key="k"):
    return Requirement(key, operator, frozenset(values))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (requirement(Operator.EXISTS), "k"),
        (requirement(Operator.DOES_NOT_EXIST), "!k"),
        (requirement(Operator.EQUALS, "v"), "k=v"),
        (requirement(Operator.EQUALS, ""), "k="),
        (requirement(Operator.DOUBLE_EQUALS, "v"), "k==v"),
        (requirement(Operator.NOT_EQUALS, "v"), "k!=v"),
        (requirement(Operator.IN, "b", "a", ""), "k in (,a,b)"),
        (requirement(Operator.IN, ""), "k in ()"),
        (requirement(Operator.NOT_IN, "v"), "k notin (v)"),
        (requirement(Operator.GREATER_THAN, "1"), "k>1"),
        (requirement(Operator.LESS_THAN, "1"), "k<1"),
    ],
)
def test_printing(made, expected):
    """Each operator has its spelling, and the values of a set are sorted."""
    assert str(made) == expected


@pytest.mark.parametrize(
    ("made", "matching", "other"),
    [
        pytest.param(requirement(Operator.EXISTS), ["", "v"], [None], id="exists"),
        pytest.param(requirement(Operator.DOES_NOT_EXIST), [None], ["", "v"], id="absent"),
        pytest.param(requirement(Operator.EQUALS, "v"), ["v"], [None, "", "w"], id="="),
        pytest.param(requirement(Operator.EQUALS, ""), [""], [None, "w"], id="= nothing"),
        pytest.param(requirement(Operator.DOUBLE_EQUALS, "v"), ["v"], [None, "w"], id="=="),
        pytest.param(requirement(Operator.NOT_EQUALS, "v"), [None, "", "w"], ["v"], id="!="),
        pytest.param(requirement(Operator.IN, "v", "w"), ["v", "w"], [None, "", "x"], id="in"),
        pytest.param(requirement(Operator.NOT_IN, "v", "w"), [None, "x"], ["v", "w"], id="notin"),
        pytest.param(
            requirement(Operator.GREATER_THAN, "5"),
            ["6", "+6", "006", str(2**63 - 1), "0" * 5000 + "6"],
            [None, "", "5", "-6", "x", "6x", "1_0", "6.5", str(2**63), "9" * 5000],
            id=">",
        ),
        pytest.param(
            requirement(Operator.LESS_THAN, "5"),
            ["4", "0", "-6", str(-(2**63))],
            [None, "", "5", "6", "x", "-", str(-(2**63) - 1), "-" + "9" * 5000],
            id="<",
        ),
    ],
)
def test_matching(made, matching, other):
    """Each operator matches these values of the label and no other; None is no label at all."""
    values = [*matching, *other]
    got = [value for value in values if made.matches({} if value is None else {"k": value})]

    assert got == matching


@pytest.mark.parametrize(
    ("key", "operator", "values", "message"),
    [
        ("-", Operator.EXISTS, (), "label key '-' is not valid: it must be"),
        ("k", Operator.EXISTS, ("v",), "label k: a test for presence takes no value"),
        ("k", Operator.DOES_NOT_EXIST, ("v",), "label k: a test for presence takes no value"),
        ("k", Operator.IN, (), "label k: operator in takes at least one value"),
        ("k", Operator.NOT_IN, (), "label k: operator notin takes at least one value"),
        ("k", Operator.EQUALS, (), "label k: operator = takes exactly one value"),
        ("k", Operator.NOT_EQUALS, ("a", "b"), "label k: operator != takes exactly one value"),
        ("k", Operator.IN, ("a", "-"), "label k: value '-' is not valid: it must be"),
        ("k", Operator.LESS_THAN, ("x",), "label k: value 'x' is not valid: operator < compares"),
        ("k", Operator.GREATER_THAN, (str(2**63),), "label k: value '9223372036854775808' is not"),
        ("k", Operator.GREATER_THAN, ("-1",), "label k: value '-1' is not valid: it must be"),
    ],
)
def test_what_cannot_be_required_is_refused(key, operator, values, message):
    """A requirement that no label could carry, or that says too much or too little, is not made."""
    with pytest.raises(SelectorError) as caught:
        Requirement(key, operator, frozenset(values))

    assert str(caught.value).startswith(message)
