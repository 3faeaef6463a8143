"""Checked expressions, compiled into functions."""
