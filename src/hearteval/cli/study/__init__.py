"""Verbs that take a study file."""
