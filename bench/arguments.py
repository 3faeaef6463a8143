"""Arguments that several benchmarks take."""

import argparse


def numbers(text: str) -> list[int]:
    """Whole numbers separated by commas, sorted."""
    try:
        return sorted(int(number) for number in text.split(","))
    except ValueError:
        wanted = "give whole numbers with commas between them, such as 100,1000"
        raise argparse.ArgumentTypeError(f"{text!r} are no numbers: {wanted}") from None
