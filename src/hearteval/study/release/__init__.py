"""Releases: a study as a folder that strangers can check, analyze and continue."""
