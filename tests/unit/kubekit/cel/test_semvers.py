"""Versions. What each expression gives, and costs, is what Kubernetes 1.34 answered."""

import pytest

from tests.support.kubekit.cel_builders import compile_failure, evaluated, failure

VALUES = [
    ("semver('1.2.3').compareTo(semver('1.2.3-alpha'))", 1, 4),
    ("semver('1.2.3-alpha.1').isLessThan(semver('1.2.3-alpha.beta'))", True, 5),
    ("semver('1.2.3-alpha.2').isLessThan(semver('1.2.3-alpha.10'))", True, 5),
    ("semver('1.2.3+a') == semver('1.2.3+b')", True, 3),
    ("isSemver('1.2.3')", True, 1),
    ("isSemver('v1', true)", True, 1),
    ("isSemver('v1', false)", False, 1),
    ("semver('2.0.0').isGreaterThan(semver('1.9.9'))", True, 3),
    ("semver('1.2.3').minor()", 2, 2),
    ("semver('1.2.3').patch()", 3, 2),
]
ERRORS = [
    ("semver('1.2')", "No Major.Minor.Patch elements found", 1),
    ("semver('1.2.3.4')", 'Invalid character(s) found in patch number "3.4"', 1),
    ("semver('01.2.3')", 'Major number must not contain leading zeroes "01"', 1),
    ("semver('1.2.x')", 'Invalid character(s) found in patch number "x"', 1),
    ("semver('')", "Version string empty", 0),
    ("semver('v1.2.3')", 'Invalid character(s) found in major number "v1"', 1),
    ("semver('1.2-a', true)", "short version cannot contain PreRelease/Build meta data", 1),
    ("semver('1.2.3-01')", 'Numeric PreRelease version must not contain leading zeroes "01"', 1),
    ("semver('1.2.3-')", "Prerelease is empty", 1),
    ("semver('1.2.3+')", "Build meta data is empty", 1),
    ("semver('1.2.3-a_b')", 'Invalid character(s) found in prerelease "a_b"', 1),
    (
        "semver('99999999999999999999.0.0')",
        'strconv.ParseUint: parsing "99999999999999999999": value out of range',
        3,
    ),
]
REFUSALS = [
    (
        "type(semver('1.1.1')) == kubernetes.Semver",
        "ERROR: <input>:1:26: undeclared reference to 'kubernetes' (in container '')\n | type(semver('1.1.1')) == kubernetes.Semver\n | .........................^",
    ),
]


@pytest.mark.parametrize(("expression", "value", "cost"), VALUES)
def test_semvers_give(expression, value, cost):
    """The versions give the value, of that very type, at that cost."""
    assert evaluated(expression) == (value, type(value), cost)


@pytest.mark.parametrize(("expression", "words", "cost"), ERRORS)
def test_semvers_fail(expression, words, cost):
    """What has no value says why, and is counted all the same."""
    assert failure(expression) == (words, cost)


@pytest.mark.parametrize(("expression", "words"), REFUSALS)
def test_semvers_are_refused(expression, words):
    """What can never have a value is refused before it is evaluated."""
    assert compile_failure(expression) == words
