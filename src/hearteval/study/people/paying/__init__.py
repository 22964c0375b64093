"""Paying people: what sites call them, how their part ends, and what they are owed."""
