"""Which requests are retried, and when.

A retry must be safe: nothing was sent, the server says that it did nothing, or the request is a read.
A Retry-After is honoured with a little jitter, so that clients do not come back at the same time.
"""

import asyncio
from typing import Final

from kubekit.client.http.failures import AttemptFailure, Lost, NotSent
from kubekit.client.http.requests import HttpRequest
from kubekit.client.http.settings import HttpSettings
from kubekit.environment import ExecutionEnvironment

_FIRST: Final = 0.1  # seconds
_FACTOR: Final = 2.0
_SPREAD: Final = 0.2
_TOO_MANY: Final = 429
_UNAVAILABLE: Final = 503


class Retries:
    """The attempts of one call. Each method is about the attempt that was just made."""

    def __init__(self, settings: HttpSettings, environment: ExecutionEnvironment) -> None:
        self._settings = settings
        self._environment = environment
        self._clock = asyncio.get_running_loop().time
        self._last = self._clock() + settings.retry_window
        self._made = 0
        self._was_lost = False
        self._was_renewed = False

    def may_renew(self) -> bool:
        """Whether to retry with renewed credentials; true the first time only."""
        was_renewed, self._was_renewed = self._was_renewed, True
        return not was_renewed

    def after_failure(self, failure: AttemptFailure, request: HttpRequest) -> float | None:
        """The seconds until the next attempt; None if there is none."""
        self._made += 1
        match failure:
            case NotSent(hopeless=False):
                return self._allowed(self._backoff())
            case Lost(response_started=False) if request.is_read and not self._was_lost:
                # The server closed a kept connection at the moment of its use.
                self._was_lost = True
                return self._allowed(0.0)
            case _:
                return None

    def after_refusal(self, status: int, retry_after: str, request: HttpRequest) -> float | None:
        """The seconds until the next attempt; None if there is none."""
        self._made += 1
        if status not in {_TOO_MANY, _UNAVAILABLE}:
            return None
        requested = _seconds(retry_after, self._environment)
        if requested is not None:
            wait = requested * (1 + _SPREAD * self._environment.chance.random())
            return self._allowed(max(wait, self._backoff()))
        if status == _UNAVAILABLE and request.is_read:
            return self._allowed(self._backoff())
        return None

    def _backoff(self) -> float:
        spread = 0.5 + self._environment.chance.random()
        return float(_FIRST * _FACTOR ** (self._made - 1) * spread)

    def _allowed(self, wait: float) -> float | None:
        if self._made >= self._settings.attempts or self._clock() + wait > self._last:
            return None
        return wait


def _seconds(text: str, environment: ExecutionEnvironment) -> float | None:
    """The time in a Retry-After, which is a number of seconds or a date."""
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return float(text[:9])
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 -- few servers send a date

    try:
        then = parsedate_to_datetime(text)
        return max(0.0, (then - environment.now()).total_seconds())
    except (ValueError, TypeError):  # also for a date without a zone
        return None
