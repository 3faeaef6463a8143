"""What no expression or document can make this process do."""

import pytest

from kubekit.cel import (
    CALL_LIMIT,
    KUBERNETES,
    Budget,
    CostExceeded,
    EvaluationError,
    compile_expression,
    rules_of,
)
from kubekit.cel.types import DYN
from tests.support.kubekit.cel_builders import compile_failure, failure

ANY = KUBERNETES.extended({"object": DYN}, {})
STOPPED = "operation cancelled: actual cost limit exceeded"


@pytest.mark.parametrize(
    ("expression", "is_refused"),
    [
        ("(" * 99 + "1" + ")" * 99, False),
        ("(" * 100 + "1" + ")" * 100, True),
        ("[" * 100 + "]" * 100, False),
        ("[" * 101 + "]" * 101, True),
        ("1" + "+1" * 100, False),
        ("1" + "+1" * 101, True),
        ("dyn(" * 99 + "1" + ")" * 99, False),
        ("dyn(" * 101 + "1" + ")" * 101, True),
        ("{'a':" * 99 + "1" + "}" * 99, False),
        ("{'a':" * 20_000, True),
        ("true?1:" * 14_000 + "1", True),
        ("[1].map(x," * 40 + "x" + ")" * 40, False),
        ("[1].map(x," * 60 + "x" + ")" * 60, True),
        ("!" * 50_001 + "true", False),
        ("true" + " && true" * 5_000, False),
        ("[" + "1," * 10_000 + "1]", False),
        ("'" + "a" * 99_000 + "'", False),
    ],
    ids=lambda value: value[:12] if isinstance(value, str) else str(value),
)
def test_d7_nesting_ends_in_an_error(expression, is_refused):
    """However an expression is nested, it is used or refused; the stack never runs out."""
    said = compile_failure(expression)
    assert ("recursion" in said) == is_refused, said[:200]


def test_d7_an_expression_has_a_longest_length():
    """A longer text is not even read."""
    assert compile_failure(" " * 100_000 + "1") == (
        "ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000"
    )


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "expression",
    ["\\" * 100_000, "[" + "a," * 20_000 + "a]", "'" * 99_999, "`" * 50_000, '"""' + "x" * 90_000],
    ids=["backslashes", "undeclared", "quotes", "backticks", "unclosed"],
)
def test_d7_many_faults_are_cut_short(expression):
    """A text that is wrong everywhere is refused in no more time than a right one takes."""
    said = compile_failure(expression)
    assert said.startswith("ERROR: ")
    assert said.count("ERROR: ") <= 102


@pytest.mark.parametrize(
    "expression",
    [
        "object.all(x, object.all(y, x + y >= 0))",
        "object.map(x, object.map(y, x)).size() > 0",
        "object.exists(x, object.exists(y, object.exists(z, x + y + z < 0)))",
        "object.distinct().size() > 0",
        "sets.equivalent(object, object)",
        "lists.range(1000000000).size() > 0",
        "lists.range(1000000).size() > 0",
    ],
)
def test_d7_what_costs_too_much_is_stopped(expression):
    """No expression gets further than its limit, and large calls are not even made."""
    words, cost = failure(expression, ANY, object=list(range(3000)))
    assert words in (STOPPED, "running out of cost budget")
    assert cost == 0 or cost > CALL_LIMIT


@pytest.mark.parametrize(
    "expression",
    [
        "object.replace('', object).size() > 0",
        "[" + "object," * 300 + "object].join(object).size() > 0",
        "'" + "%s" * 300 + "'.format([" + "object," * 299 + "object]).size() > 0",
    ],
    ids=["replace", "join", "format"],
)
def test_d7_texts_do_not_outgrow_memory(expression):
    """A result that would be many times its arguments is refused before it is made."""
    words, _ = failure(expression, ANY, object="abc" * 100_000)
    assert words in (STOPPED, "running out of cost budget")


def test_d7_comparing_what_is_large_inside_is_stopped():
    """Comparing costs little by the book; what it really takes is counted too."""
    document = {"a": [[i] for i in range(20_000)], "n": [*range(100)]}
    words, _ = failure("object.n.all(x, object.a == object.a)", ANY, object=document)
    assert words == STOPPED


def test_d7_a_document_may_be_nested_deeply():
    """A value that is too deep to compare is an error like any other."""
    deep: list[object] = []
    for _ in range(3000):
        deep = [deep]
    program = compile_expression("object == object", ANY)
    with pytest.raises(EvaluationError, match="nested too deeply"):
        program.evaluate({"object": deep}, Budget())


def test_d7_ratcheting_may_be_asked_of_a_deep_document():
    """A value that is too deep to compare counts as changed."""
    schema = {
        "type": "object",
        "properties": {"o": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
        "x-kubernetes-validations": [{"rule": "false"}],
    }
    deep: list[object] = []
    for _ in range(3000):
        deep = [deep]
    rules = rules_of(schema)
    assert rules is not None
    assert len(rules.errors({"o": {"d": deep}}, {"o": {"d": deep}})) == 1


def test_d7_no_rule_is_asked_after_the_budget_is_spent():
    """One error tells that the budget is spent, and nothing more is evaluated."""
    item = {"type": "integer", "x-kubernetes-validations": [{"rule": "self >= 0"}]}
    rules = rules_of({"type": "object", "properties": {"l": {"type": "array", "items": item}}})
    assert rules is not None
    (error,) = rules.errors({"l": [0] * 100}, None, Budget(60))
    assert str(error) == (
        'l[30]: Invalid value: "integer": validation failed due to running out of cost budget, '
        "no further validation rules will be run"
    )


def test_d7_an_error_cannot_hide_the_cost():
    """What is absorbed by an operator is paid for all the same."""
    program = compile_expression("object.map(x, object.map(y, 1 / 0)).size() > 0 || true", ANY)
    with pytest.raises(CostExceeded):
        program.evaluate({"object": [*range(2000)]}, Budget())


@pytest.mark.timeout(60)
def test_d7_patterns_are_matched_in_linear_time():
    """A pattern with catastrophic backtracking in other engines is matched at once."""
    program = compile_expression("object.matches('^(a+)+$')", ANY)
    assert program.evaluate({"object": "a" * 5_000 + "b"}, Budget()) is False


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        (
            Budget(30),
            "messageExpression evaluation failed due to running out of cost budget, no further "
            "validation rules will be run",
        ),
        (
            Budget(per_call=20),
            "no further validation rules will be run due to call cost exceeds limit for "
            'messageExpression: "self.map(x, string(x)).join()"',
        ),
    ],
    ids=["budget", "call"],
)
def test_d7_a_message_is_paid_for(budget, words):
    """What is computed for a message counts like the rule itself."""
    rule = {"rule": "self.size() > 9", "messageExpression": "self.map(x, string(x)).join()"}
    numbers = {"type": "array", "items": {"type": "integer"}, "x-kubernetes-validations": [rule]}
    rules = rules_of({"type": "object", "properties": {"l": numbers}})
    assert rules is not None
    errors = [str(error) for error in rules.errors({"l": [1, 2, 3, 4]}, None, budget)]
    assert errors == [f'l: Invalid value: "array": {words}']


def test_d7_what_is_done_for_one_request_is_counted_together():
    """Many rules that each do much work at a low cost must not block other requests."""
    items = {"type": "array", "items": {"type": "integer"}}
    said = [{"rule": f"self.a == self.b || {n} == 1"} for n in range(100)]
    kind = {"type": "object", "properties": {"a": items, "b": items}}
    rules = rules_of(kind | {"x-kubernetes-validations": said})
    assert rules is not None

    (error,) = rules.errors({"a": [0] * 100_000, "b": [0] * 100_000})

    assert STOPPED in error.detail


def test_d7_the_number_of_errors_is_limited():
    """A list of a million errors would be slow and useless."""
    item = {"type": "integer", "x-kubernetes-validations": [{"rule": "self >= 0"}]}
    rules = rules_of({"type": "object", "properties": {"l": {"type": "array", "items": item}}})
    assert rules is not None

    assert len(rules.errors({"l": [-1] * 1000})) == 100
