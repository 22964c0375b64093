"""Asking models for what a study wants: what it will cost, opening them, the steps, stopping."""
