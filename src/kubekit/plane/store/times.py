"""Moments as the log keeps them."""

from datetime import datetime


def milliseconds(moment: datetime) -> int:
    """Milliseconds since 1970."""
    return round(moment.timestamp() * 1000)
