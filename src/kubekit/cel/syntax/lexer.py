"""The tokens of an expression."""

import re
from dataclasses import dataclass
from typing import Final

from kubekit.cel.errors import MOST_ISSUES, Issue

_ESCAPE: Final = (
    r"""\\(?:[abfnrtv"'\\?`]|[0-3][0-7]{2}|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"""
)
_TEXT: Final = "|".join(
    (
        r'[rR]"""[\s\S]*?"""',
        r"[rR]'''[\s\S]*?'''",
        r'[rR]"[^"\n\r]*"',
        r"[rR]'[^'\n\r]*'",
        rf'"""(?:{_ESCAPE}|[^\\])*?"""',
        rf"'''(?:{_ESCAPE}|[^\\])*?'''",
        rf'"(?:{_ESCAPE}|[^\\"\n\r])*"',
        rf"'(?:{_ESCAPE}|[^\\'\n\r])*'",
    )
)
_EXPONENT: Final = r"[eE][+-]?[0-9]+"
_TOKENS: Final = re.compile(
    rf"""(?P<SPACE>[\t\ \r\n\f]+|//[^\n]*)
        |(?P<BYTES>[bB](?:{_TEXT}))
        |(?P<STRING>{_TEXT})
        |(?P<NUM_FLOAT>[0-9]+\.[0-9]+(?:{_EXPONENT})?|[0-9]+{_EXPONENT}|\.[0-9]+(?:{_EXPONENT})?)
        |(?P<NUM_UINT>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])
        |(?P<NUM_INT>0x[0-9a-fA-F]+|[0-9]+)
        |(?P<IDENTIFIER>[A-Za-z_][A-Za-z0-9_]*)
        |(?P<ESC_IDENTIFIER>`[A-Za-z0-9_./\ -]+`)
        |(?P<OPERATOR>[=!<>]=|&&|\|\||[-\[\]{{}}().,!?:+*/%<>])
    """,
    re.VERBOSE,
)
_OPEN_TEXT: Final = re.compile(rf"""[bB]?[rR]?(["'])(?:{_ESCAPE}|(?!\1)[^\\\n\r])*(?:\\.?)?""")
_KEYWORDS: Final = frozenset({"true", "false", "null", "in"})
END: Final = "<EOF>"


@dataclass(frozen=True, slots=True)
class Token:
    """``kind`` is the class of a name or literal; for other tokens it is the text."""

    kind: str
    text: str
    offset: int


def tokens(source: str, issues: list[Issue]) -> list[Token]:
    """The tokens of the source, ended by one of kind `END`. An invalid character is an issue.

    The lexer stops after too many issues, because each costs a scan of the whole source.
    """
    result = []
    at = 0
    while at < len(source) and len(issues) < MOST_ISSUES:
        match = _TOKENS.match(source, at)
        if match is None:
            at = _skipped(source, at, issues)
            continue
        if match.lastgroup != "SPACE":
            result.append(_token(str(match.lastgroup), match[0], at))
        at = match.end()
    result.append(Token(END, END, len(source)))
    return result


def _token(group: str, text: str, offset: int) -> Token:
    is_itself = group == "OPERATOR" or (group == "IDENTIFIER" and text in _KEYWORDS)
    return Token(text if is_itself else group, text, offset)


def _skipped(source: str, at: int, issues: list[Issue]) -> int:
    """The offset after an invalid character."""
    opened = _OPEN_TEXT.match(source, at)
    end = opened.end() if opened else at + 1
    issues.append(Issue(at, f"Syntax error: token recognition error at: '{source[at:end]}'"))
    return end
