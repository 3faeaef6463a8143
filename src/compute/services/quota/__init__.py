"""Quota: registrations and grants in the core plane, claims in the planes of projects.

The budget of a project is kept by one pass at a time (`keeper`), from a book that follows the
claims event by event (`book`).
"""
