"""People beside judges and models: rankings by kind of rater, agreement, models against people.

`best_human`, what people weigh otherwise than judges, and the quality of raters are not here yet.
"""
