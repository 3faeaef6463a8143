"""One line in the log for each pass."""

import logging
from typing import Final

from kubekit.api.errors import Unreachable
from kubekit.runtime.queueing.outcomes import PassOutcome
from kubekit.runtime.reconciling.passes import Pass

_log: Final = logging.getLogger(__name__)

_REMEMBERED: Final = 512  # places that failed; the traceback of each is shown once


class PassLog:
    """The log of one controller's passes.

    A pass that failed is an error. Its traceback is shown once for each place in the code that it
    comes from: the hundredth says nothing that the first did not. A pass that failed because a plane
    is known to be unreachable is logged at debug, since that was logged when it was found out.
    """

    def __init__(self, controller: str, level: int) -> None:
        self._controller = controller
        self._level = level
        self._shown: dict[tuple[object, ...], None] = {}

    def ended(self, pass_: Pass, outcome: PassOutcome, seconds: float) -> None:
        """Write the line of a pass."""
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
            about["error"] = _words(outcome.error)
        _log.log(level, "pass", extra=about, exc_info=self._traceback(outcome))

    def _traceback(self, outcome: PassOutcome) -> BaseException | None:
        error = outcome.error
        if error is None or not outcome.failed:
            return None
        place = _place(error)
        if place in self._shown:
            return None
        if len(self._shown) >= _REMEMBERED:
            self._shown.clear()
        self._shown[place] = None
        return error


def _severity(outcome: PassOutcome) -> int:
    return logging.DEBUG if isinstance(outcome.error, Unreachable) else logging.ERROR


def _place(error: BaseException) -> tuple[object, ...]:
    """Where an exception was raised, and of what kind it is."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = (trace.tb_frame.f_code, trace.tb_lineno) if trace is not None else ()
    return (type(error), *where)


def _words(error: BaseException) -> str:
    """The exception in a line. One whose own text fails must not fail the pass once more."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - of whatever kind: the name of its class is left
        return type(error).__name__
