"""What the servers of pages share: the methods that read, and the page of a scrape."""

import logging
from collections.abc import Callable
from typing import Final

from kubekit.runtime.serving.messages import OutgoingResponse, text_response

METRICS_PATH: Final = "/metrics"
READ_METHODS: Final = ("GET", "HEAD")
_EXPOSITION: Final = "text/plain; version=0.0.4; charset=utf-8"

_log: Final = logging.getLogger(__name__)


def method_not_allowed() -> OutgoingResponse:
    """The response to a method that does not read."""
    allowed = {"Allow": ", ".join(READ_METHODS)}
    return text_response(405, "only GET and HEAD are served here\n", allowed)


def scrape_page(scrape: Callable[[], bytes]) -> OutgoingResponse:
    """The text of a scrape. One that fails is an error of this server, and not of its client."""
    try:
        return OutgoingResponse(200, scrape(), _EXPOSITION)
    except Exception:  # noqa: BLE001 - whatever it is, the scraper gets a response
        _log.exception("metrics not collected")
        return text_response(500, "the metrics cannot be collected; the log has the cause\n")
