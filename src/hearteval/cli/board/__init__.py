"""``heart`` verbs that publish a study, and check what others have published."""
