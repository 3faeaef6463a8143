"""One line in the log for each pass."""

import logging
from typing import Final

from kubekit.api.errors import Unreachable
from kubekit.runtime.queueing.outcomes import PassOutcome
from kubekit.runtime.reconciling.passes import Pass

_log: Final = logging.getLogger(__name__)

_REMEMBERED: Final = 512  # code locations that failed; the traceback of each is logged once


class PassLog:
    """The log of one controller's passes.

    A pass that failed is an error. Its traceback is logged once for each code location that raised:
    the hundredth says nothing new. A pass that failed because a plane is known to be unreachable is
    logged at debug level, because the unreachable plane was logged when it was detected.
    """

    def __init__(self, controller: str, level: int) -> None:
        self._controller = controller
        self._level = level
        self._logged: dict[tuple[object, ...], None] = {}

    def ended(self, pass_: Pass, outcome: PassOutcome, seconds: float) -> None:
        """Log one pass."""
        level = _severity(outcome) if outcome.failed else self._level
        if not _log.isEnabledFor(level):
            return
        about: dict[str, object] = {
            "controller": self._controller,
            "request": str(pass_.request),
            "pass": pass_.number,
            "result": outcome.label,
            "seconds": round(seconds, 6),
            "writes": pass_.writes,
        }
        if outcome.requeue_after is not None:
            about["requeue_after"] = round(outcome.requeue_after, 3)
        if outcome.error is not None:
            about["error"] = _text(outcome.error)
        _log.log(level, "pass", extra=about, exc_info=self._traceback(outcome))

    def _traceback(self, outcome: PassOutcome) -> BaseException | None:
        error = outcome.error
        if error is None or not outcome.failed:
            return None
        location = _location(error)
        if location in self._logged:
            return None
        if len(self._logged) >= _REMEMBERED:
            self._logged.clear()
        self._logged[location] = None
        return error


def _severity(outcome: PassOutcome) -> int:
    return logging.DEBUG if isinstance(outcome.error, Unreachable) else logging.ERROR


def _location(error: BaseException) -> tuple[object, ...]:
    """The class of an exception, and where it was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = (trace.tb_frame.f_code, trace.tb_lineno) if trace is not None else ()
    return (type(error), *where)


def _text(error: BaseException) -> str:
    """The exception in one line. An exception whose text fails must not fail the pass again."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - whatever it is, the name of the class remains
        return type(error).__name__
