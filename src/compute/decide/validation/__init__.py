"""Whether a Workload is valid; if not, which field is wrong, and what would be valid.

The admission webhook, the command line's dry run and the console call the same functions, so a
manifest that one of them accepts is accepted by all. Start with `document`, which checks the
structure and then calls `workload`. Every other file has the rules of one part of the document and is
named after it. Each rule yields errors in the order of the fields.
"""

from compute.decide.validation.document import review_document
from compute.decide.validation.review import NetworkUse, Review
from compute.decide.validation.workload import (
    MOST_ERRORS,
    Default,
    corrected,
    defaults,
    validate,
    with_defaults,
)

__all__ = [
    "MOST_ERRORS",
    "Default",
    "NetworkUse",
    "Review",
    "corrected",
    "defaults",
    "review_document",
    "validate",
    "with_defaults",
]
