"""The reflective system: `reply` mirrors a clause of the seeker's last turn.

`clauses` finds what can be mirrored, `mirror` turns it to the second person.
"""
