"""Verbs that take a table, or make one."""
