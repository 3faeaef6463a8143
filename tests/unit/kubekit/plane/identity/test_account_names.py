"""What service accounts are called as users."""

import pytest
from hypothesis import given, strategies as st

from kubekit.plane.identity.account_names import AccountName, account_name

LABELS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?", fullmatch=True)


@given(LABELS, st.lists(LABELS, min_size=1, max_size=3).map(".".join))
def test_a_name_is_read_back(namespace, name):
    """The user's name says which account it is."""
    account = AccountName(namespace, name)
    assert account_name(account.user) == account


@given(st.text(max_size=40))
def test_no_other_user_is_an_account(text):
    """Only names with the common prefix."""
    found = account_name(text)
    assert found is None or found.user == text


@pytest.mark.parametrize(
    "user",
    [
        "system:serviceaccount:",
        "system:serviceaccount:ns",
        "system:serviceaccount:ns:",
        "system:serviceaccount::robot",
        "system:serviceaccount:ns:robot:x",
        "system:serviceaccount:ns:Robot",
        "system:serviceaccount:n.s:robot",
        "system:serviceaccount:ns:robot\n",
        "system:serviceaccount:ns:a..b",
        "system:serviceaccount:ns:-a",
        f"system:serviceaccount:{'n' * 64}:robot",
        f"system:serviceaccount:ns:{'.'.join(['a' * 60] * 5)}",
        "System:serviceaccount:ns:robot",
    ],
)
def test_what_no_account_can_be_called_is_no_account(user):
    """Otherwise a user could be taken for an account that cannot exist."""
    assert account_name(user) is None


def test_its_groups():
    """All accounts, and those of the namespace."""
    assert AccountName("ns", "robot").groups == (
        "system:serviceaccounts",
        "system:serviceaccounts:ns",
    )
