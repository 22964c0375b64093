"""The rating protocol: scores of completions by themselves.

Scores are 1 to 5. A z-score is a score minus its rater's mean on that axis, in that rater's
standard deviations, both over all its first ratings of ranked systems. ``low`` and ``high`` are
interval ends at the level of the results.
"""
