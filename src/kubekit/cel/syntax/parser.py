"""The parser of expressions.

Binary operators are parsed with two stacks, so the parser recurses only for brackets and calls. With
the limits below no text can exhaust the stack of this process, here or in the later steps.
"""

from typing import Final

from kubekit.cel.errors import Issue, compile_error
from kubekit.cel.syntax import macros
from kubekit.cel.syntax.lexer import END, Token, tokens
from kubekit.cel.syntax.literals import CONSTANTS, LITERALS, literal
from kubekit.cel.syntax.tree import (
    RESERVED,
    Call,
    Ident,
    ListExpr,
    Literal,
    MapEntry,
    MapExpr,
    Node,
    Select,
    StructExpr,
    qualified_name,
)

MOST_CHARACTERS: Final = 100_000
MOST_NESTED: Final = 100  # each level takes up to six of the thousand frames of Python's stack

_OPERAND: Final = (
    "'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', "
    "NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER"
)
_LOGICAL: Final = {"||": "_||_", "&&": "_&&_"}
_BINARY: Final = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(("<", "<=", ">=", ">", "==", "!=", "in"), 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/", "%"), 5),
}
_FUNCTIONS: Final = {word: f"_{word}_" for word in _BINARY} | {"in": "@in"}
_NUMBERS: Final = ("NUM_INT", "NUM_FLOAT")


def parse(source: str) -> Node:
    """The tree of the expression. Raises `CompileError`."""
    if len(source) > MOST_CHARACTERS:
        size = f"size: {len(source)}, limit {MOST_CHARACTERS}"
        wrong = f"expression code point size exceeds limit: {size}"
        raise compile_error(source, [Issue(-1, wrong)])
    issues: list[Issue] = []
    parser = _Parser(tokens(source, issues), issues)
    try:
        tree = parser.whole()
    except _Stop as stop:
        issues.append(stop.issue)
    else:
        if not issues:
            return tree
    raise compile_error(source, issues)


class _Stop(Exception):
    """An error after which the rest cannot be parsed."""

    def __init__(self, offset: int, wrong: str) -> None:
        super().__init__(wrong)
        self.issue = Issue(offset, wrong)


class _Parser:
    def __init__(self, words: list[Token], issues: list[Issue]) -> None:
        self._words = words
        self._at = 0
        self._depth = 0
        self._issues = issues

    def whole(self) -> Node:
        tree = self._expression()
        if self._next.kind != END:
            raise self._unexpected("extraneous", END)
        return tree

    def _expression(self) -> Node:
        """An expression: operators of rising strength, then perhaps a choice."""
        self._depth += 1
        if self._depth > MOST_NESTED:
            raise _Stop(-1, f"expression recursion limit exceeded: {MOST_NESTED}")
        node = self._operators()
        if self._next.kind == "?":
            node = self._choice(node)
        self._depth -= 1
        return node

    def _choice(self, condition: Node) -> Node:
        at = self._take().offset
        first = self._operators()
        self._expect(":", "mismatched")
        second = self._expression()
        return self._built(
            Call(function="_?_:_", args=[condition, first, second], offset=at),
            (condition, first, second),
        )

    def _operators(self) -> Node:
        operands = [self._operand()]
        pending: list[Token] = []
        while (strength := _BINARY.get(self._next.kind)) is not None:
            while pending and _BINARY[pending[-1].kind] >= strength:
                self._join(operands, pending.pop())
            pending.append(self._take())
            operands.append(self._operand())
        while pending:
            self._join(operands, pending.pop())
        return operands[0]

    def _join(self, operands: list[Node], operator: Token) -> None:
        """Join the last two operands. A chain of logical operators becomes one flat call."""
        right, left = operands.pop(), operands.pop()
        function = _FUNCTIONS[operator.kind]
        if operator.kind in _LOGICAL and type(left) is Call and left.function == function:
            left.args.append(right)
            left.depth = max(left.depth, right.depth + 1)
            operands.append(left)
            return
        call = Call(function=function, args=[left, right], offset=operator.offset)
        operands.append(self._built(call, (left, right)))

    def _operand(self) -> Node:
        signs = self._signs()
        node = self._member(self._primary())
        if len(signs) % 2 == 0:
            return node
        function = "-_" if signs[0].kind == "-" else "!_"
        return self._built(Call(function=function, args=[node], offset=signs[0].offset), (node,))

    def _signs(self) -> list[Token]:
        """The signs before an operand, all of one kind. A single minus before a number is part of it."""
        signs: list[Token] = []
        while self._next.kind in ("-", "!") and (not signs or signs[0].kind == self._next.kind):
            signs.append(self._take())
        if [sign.kind for sign in signs] == ["-"] and self._next.kind in _NUMBERS:
            self._at -= 1
            return []
        return signs

    def _member(self, node: Node) -> Node:
        """The node with the fields, calls and indexes that follow it."""
        while True:
            kind = self._next.kind
            if kind == ".":
                node = self._selected(node)
            elif kind == "[":
                node = self._indexed(node)
            elif kind == "{" and (name := qualified_name(node)) is not None:
                node = self._struct(name)
            else:
                return node

    def _selected(self, node: Node) -> Node:
        at = self._take().offset
        is_optional = self._next.kind == "?"
        if is_optional:
            self._take()
        name = self._field_name()
        if is_optional:
            word = Literal(value=name.text, offset=name.offset)
            return self._built(Call(function="_?._", args=[node, word], offset=at), (node,))
        if self._next.kind != "(" or name.kind != "IDENTIFIER":
            return self._built(Select(operand=node, name=name.text, offset=at), (node,))
        opened = self._take().offset
        args = self._arguments()
        call = Call(function=name.text, target=node, args=args, offset=opened)
        return self._called(self._built(call, (node, *args)))

    def _field_name(self) -> Token:
        name = self._take()
        if name.kind == "ESC_IDENTIFIER":
            self._issues.append(Issue(name.offset, "unsupported syntax: '`'"))
        elif name.kind in CONSTANTS:
            wrong = f"Syntax error: mismatched input '{name.text}' expecting IDENTIFIER"
            raise _Stop(name.offset, wrong)
        elif name.kind != "IDENTIFIER":
            shown = "." if name.kind == END else f".{name.text}"
            wrong = f"Syntax error: no viable alternative at input '{shown}'"
            raise _Stop(name.offset, wrong)
        return name

    def _indexed(self, node: Node) -> Node:
        at = self._take().offset
        is_optional = self._next.kind == "?"
        if is_optional:
            self._take()
        index = self._expression()
        self._expect("]", "missing")
        function = "_[?_]" if is_optional else "_[_]"
        return self._built(Call(function=function, args=[node, index], offset=at), (node, index))

    def _primary(self) -> Node:
        read = self._PRIMARIES.get(self._next.kind)
        if read is None:
            following = self._words[min(self._at + 1, len(self._words) - 1)].kind
            is_stray = following in self._PRIMARIES and self._next.kind != END
            raise self._unexpected("extraneous" if is_stray else "mismatched", f"{{{_OPERAND}}}")
        return read(self, self._take())

    def _rooted(self, _dot: Token) -> Node:
        """A name with a leading dot, which makes it absolute."""
        if self._next.kind != "IDENTIFIER":
            raise self._unexpected("mismatched", "IDENTIFIER")
        return self._name(self._take(), ".")

    def _name(self, word: Token, prefix: str = "") -> Node:
        if word.text in RESERVED:
            self._issues.append(Issue(word.offset, f"reserved identifier: {word.text}"))
        name = prefix + word.text
        if self._next.kind != "(":
            return Ident(name=name, offset=word.offset)
        opened = self._take().offset
        args = self._arguments()
        return self._called(self._built(Call(function=name, args=args, offset=opened), args))

    def _called(self, call: Node) -> Node:
        """The call, or the expansion of its macro."""
        assert type(call) is Call
        try:
            return macros.expanded(call)
        except macros.BadMacro as wrong:
            self._issues.append(wrong.issue)
            return call

    def _arguments(self) -> list[Node]:
        if self._next.kind == ")":
            self._take()
            return []
        if self._next.kind == END:
            allowed = _OPERAND.replace("'(', ", "'(', ')', ")
            raise self._unexpected("mismatched", f"{{{allowed}}}")
        args = [self._expression()]
        while self._next.kind == ",":
            self._take()
            args.append(self._expression())
        self._expect(")", "missing" if self._next.kind == END else "extraneous")
        return args

    def _nested(self, _opened: Token) -> Node:
        node = self._expression()
        self._expect(")", "missing")
        return node

    def _list(self, opened: Token) -> Node:
        elements: list[Node] = []
        optionals = set()
        while self._next.kind != "]":
            if self._next.kind == "?":
                self._take()
                optionals.add(len(elements))
            elements.append(self._expression())
            if not self._comma("]"):
                break
        self._expect("]", "mismatched")
        node = ListExpr(elements=elements, optionals=frozenset(optionals), offset=opened.offset)
        return self._deepened(node, elements)

    def _map(self, opened: Token) -> Node:
        entries: list[MapEntry] = []
        while self._next.kind != "}":
            is_optional = self._next.kind == "?"
            if is_optional:
                self._take()
            key = self._expression()
            self._expect(":", "mismatched")
            entries.append(MapEntry(key=key, value=self._expression(), optional=is_optional))
            if not self._comma("}"):
                break
        self._expect("}", "mismatched")
        parts = [part for entry in entries for part in (entry.key, entry.value)]
        return self._deepened(MapExpr(entries=entries, offset=opened.offset), parts)

    def _struct(self, name: str) -> Node:
        at = self._take().offset
        values: list[tuple[str, Node, bool]] = []
        while self._next.kind != "}":
            is_optional = self._next.kind == "?"
            if is_optional:
                self._take()
            field = self._field_name()
            self._expect(":", "mismatched")
            values.append((field.text, self._expression(), is_optional))
            if not self._comma("}"):
                break
        self._expect("}", "mismatched")
        return self._deepened(
            StructExpr(name=name, values=values, offset=at), [value for _, value, _ in values]
        )

    def _comma(self, closing: str) -> bool:
        """Whether another element may follow; one comma too many is allowed at the end."""
        if self._next.kind != ",":
            if self._next.kind != closing:
                raise self._unexpected("mismatched", f"{{'{closing}', ','}}")
            return False
        self._take()
        if self._next.kind == ",":
            raise self._unexpected("mismatched", f"'{closing}'")
        return True

    def _negative(self, sign: Token) -> Node:
        if self._next.kind not in _NUMBERS:
            wrong = f"Syntax error: no viable alternative at input '-{self._next.text}'"
            raise _Stop(self._next.offset, wrong)
        word = self._take()
        return literal(Token(word.kind, f"-{word.text}", sign.offset), self._issues)

    def _literal(self, word: Token) -> Node:
        return literal(word, self._issues)

    _PRIMARIES: Final = {
        "(": _nested,
        "[": _list,
        "{": _map,
        ".": _rooted,
        "-": _negative,
        "IDENTIFIER": _name,
        **dict.fromkeys(LITERALS, _literal),
    }

    @property
    def _next(self) -> Token:
        return self._words[self._at]

    def _take(self) -> Token:
        word = self._words[self._at]
        self._at += word.kind != END
        return word

    def _expect(self, kind: str, complaint: str) -> None:
        if self._next.kind != kind:
            raise self._unexpected(complaint, f"'{kind}'")
        self._take()

    def _unexpected(self, complaint: str, expected: str) -> _Stop:
        word = self._next
        if complaint == "missing":
            return _Stop(word.offset, f"Syntax error: missing {expected} at '{word.text}'")
        wrong = f"Syntax error: {complaint} input '{word.text}' expecting {expected}"
        return _Stop(word.offset, wrong)

    def _built(self, node: Node, parts: list[Node] | tuple[Node, ...]) -> Node:
        """The operator node, one level above its parts."""
        self._deepened(node, parts)
        node.depth += 1
        if node.depth > MOST_NESTED:
            raise _Stop(-1, "max recursion depth exceeded")
        return node

    def _deepened(self, node: Node, parts: list[Node] | tuple[Node, ...]) -> Node:
        node.depth = max((part.depth for part in parts), default=0)
        return node
