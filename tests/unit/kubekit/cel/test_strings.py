"""Functions on texts. What each expression gives, and costs, is what Kubernetes 1.34 answered."""

import pytest

from tests.support.kubekit.cel_builders import evaluated, failure

VALUES = [
    ("'hello'.charAt(4)", "o", 1),
    ("'hello'.charAt(5)", "", 1),
    ("'héllo'.charAt(1)", "é", 1),
    ("'hello'.indexOf('l')", 2, 0),
    ("'hello'.indexOf('l', 3)", 3, 0),
    ("'hello'.indexOf('z')", -1, 0),
    ("'hello'.indexOf('')", 0, 0),
    ("'hello'.indexOf('', 9)", 9, 0),
    ("'hello'.indexOf('l', 9)", -1, 0),
    ("'hello'.lastIndexOf('l')", 3, 0),
    ("'hello'.lastIndexOf('l', 2)", 2, 0),
    ("'hello'.lastIndexOf('')", 5, 0),
    ("'hello'.lastIndexOf('', 2)", 2, 0),
    ("'hello'.lastIndexOf('l', 9)", -1, 0),
    ("'hello'.lastIndexOf('hello', 0)", 0, 0),
    ("'hello'.lastIndexOf('lo', 4)", 3, 0),
    ("'a'.lastIndexOf('abc')", -1, 0),
    ("'HéLLO'.lowerAscii()", "héllo", 1),
    ("'heLlé'.upperAscii()", "HELLé", 1),  # words: the upper case of a test word
    ("'  a b  '.trim()", "a b", 1),
    ("'\\u00a0a\\u3000\\n'.trim()", "a", 1),
    ("'\\u200ba'.trim()", "\u200ba", 1),
    ("'aaa'.replace('a', 'b')", "bbb", 1),
    ("'aaa'.replace('a', 'b', 2)", "bba", 1),
    ("'aaa'.replace('a', 'b', 0)", "aaa", 1),
    ("'aaa'.replace('a', 'b', -1)", "bbb", 1),
    ("'abc'.replace('', '-')", "-a-b-c-", 1),
    ("'abc'.replace('', '-', 2)", "-a-bc", 1),
    ("'a,b,c'.split(',')", ["a", "b", "c"], 1),
    ("'a,b,c'.split(',', 2)", ["a", "b,c"], 1),
    ("'a,b,c'.split(',', 0)", [], 1),
    ("'a,b,c'.split(',', -1)", ["a", "b", "c"], 1),
    ("'a,b,c'.split(',', 1)", ["a,b,c"], 1),
    ("'abc'.split('')", ["a", "b", "c"], 1),
    ("'abc'.split('', 2)", ["a", "bc"], 1),
    ("''.split(',')", [""], 0),
    ("''.split('')", [], 0),
    ("'abc'.substring(1)", "bc", 1),
    ("'abc'.substring(3)", "", 1),
    ("'abc'.substring(1, 2)", "b", 1),
    ("['a', 'b'].join()", "ab", 1),
    ("['a', 'b'].join('-')", "a-b", 1),
    ("[''].join('x')", "", 0),
    ("[].join('x')", "", 0),
    ("strings.quote('a\"b\\\\\\n')", '"a\\"b\\\\\\n"', 1),
    ("'abc'.contains('bc')", True, 1),
    ("'abc'.contains('')", True, 0),
    ("'abc'.startsWith('ab')", True, 1),
    ("'abc'.endsWith('bc')", True, 1),
    ("'abc'.startsWith('')", True, 1),
]
ERRORS = [
    ("dyn(1).startsWith('a')", "no such overload", 1),
    ("'hello'.charAt(6)", "index out of range: 6", 1),
    ("'hello'.charAt(-1)", "index out of range: -1", 1),
    ("'hello'.indexOf('l', -1)", "index out of range: -1", 0),
    ("'hello'.lastIndexOf('l', -1)", "index out of range: -1", 0),
    ("'abc'.substring(4)", "index out of range: 4", 1),
    ("'abc'.substring(2, 1)", "invalid substring range. start: 2, end: 1", 1),
    ("'abc'.substring(-1, 1)", "index out of range: -1", 1),
    ("'abc'.substring(0, 4)", "index out of range: 4", 1),
]


@pytest.mark.parametrize(("expression", "value", "cost"), VALUES)
def test_strings_give(expression, value, cost):
    """The texts give the value, of that very type, at that cost."""
    assert evaluated(expression) == (value, type(value), cost)


@pytest.mark.parametrize(("expression", "words", "cost"), ERRORS)
def test_strings_fail(expression, words, cost):
    """What has no value says why, and is counted all the same."""
    assert failure(expression) == (words, cost)
