"""Commented study files to start from, as data."""
