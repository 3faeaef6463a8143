"""What is not an expression, or not one of the right types. What each expression gives, and costs, is what Kubernetes 1.34 answered."""

import pytest

from tests.support.kubekit.cel_builders import compile_failure

REFUSALS = [
    (
        "1 + 'a'",
        "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | 1 + 'a'\n | ..^",
    ),
    (
        "math.greatest(1,2)",
        "ERROR: <input>:1:1: undeclared reference to 'math' (in container '')\n | math.greatest(1,2)\n | ^\nERROR: <input>:1:14: undeclared reference to 'greatest' (in container '')\n | math.greatest(1,2)\n | .............^",
    ),
    (
        "base64.encode(b'a')",
        "ERROR: <input>:1:1: undeclared reference to 'base64' (in container '')\n | base64.encode(b'a')\n | ^\nERROR: <input>:1:14: undeclared reference to 'encode' (in container '')\n | base64.encode(b'a')\n | .............^",
    ),
    (
        "1 + ",
        "ERROR: <input>:1:5: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | 1 + \n | ....^",
    ),
    ("[1,'a']", "ERROR: <input>:1:4: expected type 'int' but found 'string'\n | [1,'a']\n | ...^"),
    (
        "1 == 1.0",
        "ERROR: <input>:1:3: found no matching overload for '_==_' applied to '(int, double)'\n | 1 == 1.0\n | ..^",
    ),
    ("a.b", "ERROR: <input>:1:1: undeclared reference to 'a' (in container '')\n | a.b\n | ^"),
    (
        '"x".foo()',
        "ERROR: <input>:1:8: undeclared reference to 'foo' (in container '')\n | \"x\".foo()\n | .......^",
    ),
    ("self", "ERROR: <input>:1:1: undeclared reference to 'self' (in container '')\n | self\n | ^"),
    (
        "null == 1",
        "ERROR: <input>:1:6: found no matching overload for '_==_' applied to '(null, int)'\n | null == 1\n | .....^",
    ),
    (
        "cel.bind(x, 1, x+1)",
        "ERROR: <input>:1:1: undeclared reference to 'cel' (in container '')\n | cel.bind(x, 1, x+1)\n | ^\nERROR: <input>:1:9: undeclared reference to 'bind' (in container '')\n | cel.bind(x, 1, x+1)\n | ........^\nERROR: <input>:1:10: undeclared reference to 'x' (in container '')\n | cel.bind(x, 1, x+1)\n | .........^\nERROR: <input>:1:16: undeclared reference to 'x' (in container '')\n | cel.bind(x, 1, x+1)\n | ...............^",
    ),
    (
        "1 2",
        "ERROR: <input>:1:3: Syntax error: extraneous input '2' expecting <EOF>\n | 1 2\n | ..^",
    ),
    ("(1", "ERROR: <input>:1:3: Syntax error: missing ')' at '<EOF>'\n | (1\n | ..^"),
    (
        "[1",
        "ERROR: <input>:1:3: Syntax error: mismatched input '<EOF>' expecting {']', ','}\n | [1\n | ..^",
    ),
    (
        "[1,,2]",
        "ERROR: <input>:1:4: Syntax error: mismatched input ',' expecting ']'\n | [1,,2]\n | ...^",
    ),
    (
        "{1:2",
        "ERROR: <input>:1:5: Syntax error: mismatched input '<EOF>' expecting {'}', ','}\n | {1:2\n | ....^",
    ),
    (
        "a b",
        "ERROR: <input>:1:3: Syntax error: extraneous input 'b' expecting <EOF>\n | a b\n | ..^",
    ),
    (
        "1 + + 2",
        "ERROR: <input>:1:5: Syntax error: extraneous input '+' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | 1 + + 2\n | ....^",
    ),
    (
        "foo(",
        "ERROR: <input>:1:5: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | foo(\n | ....^",
    ),
    (
        "foo(1,",
        "ERROR: <input>:1:7: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | foo(1,\n | ......^",
    ),
    (
        "foo(1 2)",
        "ERROR: <input>:1:7: Syntax error: extraneous input '2' expecting ')'\n | foo(1 2)\n | ......^",
    ),
    ("a.", "ERROR: <input>:1:3: Syntax error: no viable alternative at input '.'\n | a.\n | ..^"),
    (
        "a.1",
        "ERROR: <input>:1:2: Syntax error: extraneous input '.1' expecting <EOF>\n | a.1\n | .^",
    ),
    (
        "a..b",
        "ERROR: <input>:1:3: Syntax error: no viable alternative at input '..'\n | a..b\n | ..^",
    ),
    (
        "1 ? 2",
        "ERROR: <input>:1:6: Syntax error: mismatched input '<EOF>' expecting ':'\n | 1 ? 2\n | .....^",
    ),
    (
        "1 ? 2 :",
        "ERROR: <input>:1:8: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | 1 ? 2 :\n | .......^",
    ),
    (
        "@",
        "ERROR: <input>:1:1: Syntax error: token recognition error at: '@'\n | @\n | ^\nERROR: <input>:1:2: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | @\n | .^",
    ),
    (
        "a @ b",
        "ERROR: <input>:1:3: Syntax error: token recognition error at: '@'\n | a @ b\n | ..^\nERROR: <input>:1:5: Syntax error: extraneous input 'b' expecting <EOF>\n | a @ b\n | ....^",
    ),
    (
        '"abc',
        "ERROR: <input>:1:1: Syntax error: token recognition error at: '\"abc'\n | \"abc\n | ^\nERROR: <input>:1:5: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | \"abc\n | ....^",
    ),
    (
        "'a' + \"b",
        "ERROR: <input>:1:7: Syntax error: token recognition error at: '\"b'\n | 'a' + \"b\n | ......^\nERROR: <input>:1:9: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | 'a' + \"b\n | ........^",
    ),
    (
        "self.true",
        "ERROR: <input>:1:6: Syntax error: mismatched input 'true' expecting IDENTIFIER\n | self.true\n | .....^",
    ),
    (
        "namespace == 1",
        "ERROR: <input>:1:1: reserved identifier: namespace\n | namespace == 1\n | ^",
    ),
    (
        "a.namespace",
        "ERROR: <input>:1:1: undeclared reference to 'a' (in container '')\n | a.namespace\n | ^",
    ),
    ("a.`b-c`", "ERROR: <input>:1:3: unsupported syntax: '`'\n | a.`b-c`\n | ..^"),
    ("if", "ERROR: <input>:1:1: reserved identifier: if\n | if\n | ^"),
    (
        "x in",
        "ERROR: <input>:1:5: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | x in\n | ....^",
    ),
    (
        "== 1",
        "ERROR: <input>:1:1: Syntax error: extraneous input '==' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | == 1\n | ^",
    ),
    (
        "1 ==",
        "ERROR: <input>:1:5: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | 1 ==\n | ....^",
    ),
    ("{1}", "ERROR: <input>:1:3: Syntax error: mismatched input '}' expecting ':'\n | {1}\n | ..^"),
    ("a[1", "ERROR: <input>:1:4: Syntax error: missing ']' at '<EOF>'\n | a[1\n | ...^"),
    (
        "foo(1,)",
        "ERROR: <input>:1:7: Syntax error: mismatched input ')' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | foo(1,)\n | ......^",
    ),
    (
        ".foo",
        "ERROR: <input>:1:2: undeclared reference to '.foo' (in container '')\n | .foo\n | .^",
    ),
    (
        "a{b:1}",
        "ERROR: <input>:1:2: undeclared reference to 'a' (in container '')\n | a{b:1}\n | .^",
    ),
    ("int{}", "ERROR: <input>:1:4: 'int' is not a message type\n | int{}\n | ...^"),
    ("has(a)", "ERROR: <input>:1:5: invalid argument to has() macro\n | has(a)\n | ....^"),
    (
        "has(self.a, 1)",
        "ERROR: <input>:1:4: undeclared reference to 'has' (in container '')\n | has(self.a, 1)\n | ...^\nERROR: <input>:1:5: undeclared reference to 'self' (in container '')\n | has(self.a, 1)\n | ....^",
    ),
    ("has(1)", "ERROR: <input>:1:5: invalid argument to has() macro\n | has(1)\n | ....^"),
    (
        "'\\q'",
        "ERROR: <input>:1:1: Syntax error: token recognition error at: ''\\q'\n | '\\q'\n | ^\nERROR: <input>:1:4: Syntax error: token recognition error at: '''\n | '\\q'\n | ...^\nERROR: <input>:1:5: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | '\\q'\n | ....^",
    ),
    ("b'\\u0041'", "ERROR: <input>:1:1: unable to unescape string\n | b'\\u0041'\n | ^"),
    ("5.", "ERROR: <input>:1:3: Syntax error: no viable alternative at input '.'\n | 5.\n | ..^"),
    (
        "18446744073709551616u",
        "ERROR: <input>:1:1: invalid uint literal\n | 18446744073709551616u\n | ^",
    ),
    (
        "9223372036854775808",
        "ERROR: <input>:1:1: invalid int literal\n | 9223372036854775808\n | ^",
    ),
    ("1e400", "ERROR: <input>:1:1: invalid double literal\n | 1e400\n | ^"),
    (
        "// only comment",
        "ERROR: <input>:1:16: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | // only comment\n | ...............^",
    ),
    (
        "'''multi",
        "ERROR: <input>:1:3: Syntax error: token recognition error at: ''multi'\n | '''multi\n | ..^",
    ),
    (
        "'a' 'b'",
        "ERROR: <input>:1:5: Syntax error: extraneous input ''b'' expecting <EOF>\n | 'a' 'b'\n | ....^",
    ),
    (
        "a ? b : c ? d : e",
        "ERROR: <input>:1:1: undeclared reference to 'a' (in container '')\n | a ? b : c ? d : e\n | ^\nERROR: <input>:1:5: undeclared reference to 'b' (in container '')\n | a ? b : c ? d : e\n | ....^\nERROR: <input>:1:9: undeclared reference to 'c' (in container '')\n | a ? b : c ? d : e\n | ........^\nERROR: <input>:1:13: undeclared reference to 'd' (in container '')\n | a ? b : c ? d : e\n | ............^\nERROR: <input>:1:17: undeclared reference to 'e' (in container '')\n | a ? b : c ? d : e\n | ................^",
    ),
    (
        "1 < 2 < 3",
        "ERROR: <input>:1:7: found no matching overload for '_<_' applied to '(bool, int)'\n | 1 < 2 < 3\n | ......^",
    ),
    (
        "-5.foo()",
        "ERROR: <input>:1:7: undeclared reference to 'foo' (in container '')\n | -5.foo()\n | ......^",
    ),
    (
        "a.b{c: 1}",
        "ERROR: <input>:1:4: undeclared reference to 'a.b' (in container '')\n | a.b{c: 1}\n | ...^",
    ),
    (
        "true.foo",
        "ERROR: <input>:1:5: type 'bool' does not support field selection\n | true.foo\n | ....^",
    ),
    (
        "null.foo",
        "ERROR: <input>:1:5: type 'null' does not support field selection\n | null.foo\n | ....^",
    ),
    (
        "x.y.z(1)",
        "ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x.y.z(1)\n | ^\nERROR: <input>:1:6: undeclared reference to 'z' (in container '')\n | x.y.z(1)\n | .....^",
    ),
    ("[1, 2u]", "ERROR: <input>:1:5: expected type 'int' but found 'uint'\n | [1, 2u]\n | ....^"),
    (
        "[1, dyn('a')]",
        "ERROR: <input>:1:8: expected type 'int' but found 'dyn'\n | [1, dyn('a')]\n | .......^",
    ),
    (
        "[null, 1]",
        "ERROR: <input>:1:8: expected type 'null' but found 'int'\n | [null, 1]\n | .......^",
    ),
    (
        "{1: 2, 'a': 3}",
        "ERROR: <input>:1:8: expected type 'int' but found 'string'\n | {1: 2, 'a': 3}\n | .......^",
    ),
    (
        "[1] < [2]",
        "ERROR: <input>:1:5: found no matching overload for '_<_' applied to '(list(int), list(int))'\n | [1] < [2]\n | ....^",
    ),
    (
        "5.5 % 2.0",
        "ERROR: <input>:1:5: found no matching overload for '_%_' applied to '(double, double)'\n | 5.5 % 2.0\n | ....^",
    ),
    (
        "1 - 2u",
        "ERROR: <input>:1:3: found no matching overload for '_-_' applied to '(int, uint)'\n | 1 - 2u\n | ..^",
    ),
    ("dyn", "ERROR: <input>:1:1: undeclared reference to 'dyn' (in container '')\n | dyn\n | ^"),
    (
        "google",
        "ERROR: <input>:1:1: undeclared reference to 'google' (in container '')\n | google\n | ^",
    ),
    (
        "google.protobuf",
        "ERROR: <input>:1:1: undeclared reference to 'google' (in container '')\n | google.protobuf\n | ^",
    ),
    ("net", "ERROR: <input>:1:1: undeclared reference to 'net' (in container '')\n | net\n | ^"),
    (
        "kubernetes.Quantity",
        "ERROR: <input>:1:1: undeclared reference to 'kubernetes' (in container '')\n | kubernetes.Quantity\n | ^",
    ),
    (
        "google.protobuf.NullValue",
        "ERROR: <input>:1:1: undeclared reference to 'google' (in container '')\n | google.protobuf.NullValue\n | ^",
    ),
    (
        "google.rpc.Status",
        "ERROR: <input>:1:1: undeclared reference to 'google' (in container '')\n | google.rpc.Status\n | ^",
    ),
    (
        "{'a': [1, {'b': 2}]} == {'a': [1, {'b': 2}]}",
        "ERROR: <input>:1:11: expected type 'int' but found 'map(string, int)'\n | {'a': [1, {'b': 2}]} == {'a': [1, {'b': 2}]}\n | ..........^\nERROR: <input>:1:35: expected type 'int' but found 'map(string, int)'\n | {'a': [1, {'b': 2}]} == {'a': [1, {'b': 2}]}\n | ..................................^",
    ),
]


@pytest.mark.parametrize(("expression", "words"), REFUSALS)
def test_syntax_are_refused(expression, words):
    """What can never have a value is refused before it is evaluated."""
    assert compile_failure(expression) == words
