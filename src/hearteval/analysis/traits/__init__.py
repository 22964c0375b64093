"""Traits of systems beside their quality: speed, and columns of any joined table."""
