"""URLs. What each expression gives, and costs, is what Kubernetes 1.34 answered."""

import pytest

from tests.support.kubekit.cel_builders import compile_failure, evaluated, failure

VALUES = [
    (
        "url('https://user:pw@Example.com:8080/a%20b/c?x=1&y=2&x=3#frag').getHost()",
        "Example.com:8080",
        7,
    ),
    (
        "url('https://user:pw@Example.com:8080/a%20b/c?x=1&y=2&x=3#frag').getHostname()",
        "Example.com",
        7,
    ),
    ("url('https://user:pw@Example.com:8080/a%20b/c?x=1&y=2&x=3#frag').getPort()", "8080", 7),
    ("url('HTTPS://user:pw@Example.com:8080/a%20b/c?x=1&y=2&x=3#frag').getScheme()", "https", 7),
    (
        "url('https://user:pw@Example.com:8080/a b/c?x=1&y=2&x=3#frag').getEscapedPath()",
        "/a%20b/c",
        7,
    ),
    ("url('https://Example.com:8080/a%20b/c?x=1&y=2&x=3#frag').getEscapedPath()", "/a%20b/c", 6),
    ("url('https://e/é').getEscapedPath()", "/%C3%A9", 3),
    ("url('https://e/%c3%a9').getEscapedPath()", "/%c3%a9", 3),
    ("url('https://e/a[b]').getEscapedPath()", "/a[b]", 3),
    ("url('https://e/a\"b').getEscapedPath()", "/a%22b", 3),
    ("url('https://e/?x=1&y=2&x=3#frag').getQuery()", {"x": ["1", "3"], "y": ["2"]}, 4),
    ("url('https://e/?x=a+b&y=%zz&z;q=1&w').getQuery()", {"x": ["a b"], "w": [""]}, 4),
    ("url('https://e').getEscapedPath()", "", 2),
    ("url('/a/b').getHost()", "", 2),
    ("url('/a/b').getScheme()", "", 2),
    ("url('mailto:x@y').getHost()", "", 2),
    ("url('http://[::1]:80/').getHostname()", "::1", 3),
    ("url('http://[::1]/').getPort()", "", 3),
    ("url('http:///x').getEscapedPath()", "/x", 2),
    ("isURL('https://a')", True, 1),
    ("isURL('a')", False, 1),
    ("isURL('../a')", False, 1),
    ("isURL('http://a/b?c#d')", True, 1),
    ("url('http://a/b#c').getEscapedPath()", "/b", 3),
    ("url('http://a') == url('http://a')", True, 3),
    ("url('http://a') == url('HTTP://a')", True, 3),
]
ERRORS = [
    (
        "url('a/b')",
        'URL parse error during conversion from string: parse "a/b": invalid URI for request',
        1,
    ),
    ("url('')", 'URL parse error during conversion from string: parse "": empty url', 0),
    (
        "url('http://[::1/')",
        "URL parse error during conversion from string: parse \"http://[::1/\": missing ']' in host",
        2,
    ),
    (
        "url('http://a:b/')",
        'URL parse error during conversion from string: parse "http://a:b/": invalid port ":b" after host',
        2,
    ),
    (
        "url('http://a b/')",
        'URL parse error during conversion from string: parse "http://a b/": invalid character " " in host name',
        2,
    ),
    (
        "url('http://a/%zz')",
        'URL parse error during conversion from string: parse "http://a/%zz": invalid URL escape "%zz"',
        2,
    ),
    (
        "url('http://a%20b/')",
        'URL parse error during conversion from string: parse "http://a%20b/": invalid URL escape "%20"',
        2,
    ),
    (
        "url('://a')",
        'URL parse error during conversion from string: parse "://a": missing protocol scheme',
        1,
    ),
    (
        "url('1http://a')",
        'URL parse error during conversion from string: parse "1http://a": invalid URI for request',
        1,
    ),
    (
        "url('http://a\\nb')",
        'URL parse error during conversion from string: parse "http://a\\nb": net/url: invalid control character in URL',
        1,
    ),
    (
        "url('http://us er@a/')",
        'URL parse error during conversion from string: parse "http://us er@a/": net/url: invalid userinfo',
        2,
    ),
]
REFUSALS = [
    (
        "type(url('http://a')) == kubernetes.URL",
        "ERROR: <input>:1:26: undeclared reference to 'kubernetes' (in container '')\n | type(url('http://a')) == kubernetes.URL\n | .........................^",
    ),
]


@pytest.mark.parametrize(("expression", "value", "cost"), VALUES)
def test_urls_give(expression, value, cost):
    """The URLs give the value, of that very type, at that cost."""
    assert evaluated(expression) == (value, type(value), cost)


@pytest.mark.parametrize(("expression", "words", "cost"), ERRORS)
def test_urls_fail(expression, words, cost):
    """What has no value says why, and is counted all the same."""
    assert failure(expression) == (words, cost)


@pytest.mark.parametrize(("expression", "words"), REFUSALS)
def test_urls_are_refused(expression, words):
    """What can never have a value is refused before it is evaluated."""
    assert compile_failure(expression) == words
