"""What stands behind the numbers of a study: what there is, what is missing and why."""
