"""The word list that ``make check`` enforces."""

import pytest

from tools.check_words import banned


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Whoever asks is told", ["whoever", "told"]),
        ("def told_to_stop() -> None:", ["told"]),
        ("class ToldStories:", ["told"]),
        ("for ever and with a say", ["for ever", "with a say"]),
        ("forever", []),
        ("the helm, this, there, hers", []),
        ("HTTPServer and HELP", []),
    ],
)
def test_a_word_counts_by_itself_and_as_a_part_of_an_identifier(
    line: str, words: list[str]
) -> None:
    assert banned(line) == words
