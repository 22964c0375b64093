"""What models are asked for a study, a kind in each file: found, asked, read and kept.

A step asks nobody who it is for and what it may cost, plans nothing and analyses nothing: that is
for `study`, which alone runs it.
"""
