"""Quota: registrations and grants in the core plane, claims in the planes of projects.

One reconcile pass at a time answers the claims of a project (`budgets`), from totals that are
updated with each watch event of a claim (`ledger`). Start with `service`, which lists the controllers.
"""
