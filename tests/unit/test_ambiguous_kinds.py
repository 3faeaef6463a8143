"""Commands in pages and texts name kinds that only one API group has."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Kubernetes serves a kind of this name too, in the group resource.k8s.io.
AMBIGUOUS = re.compile(r"kubectl\b.*\bresourceclaims?\b(?!\.quota\.miloapis\.com)")


def test_claims_of_quota_are_named_with_their_group():
    """`kubectl get resourceclaims` may show the claims of devices instead."""
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/compute/**/*.py")]
    found = {page: AMBIGUOUS.findall(page.read_text()) for page in pages}
    assert {page: lines for page, lines in found.items() if lines} == {}
