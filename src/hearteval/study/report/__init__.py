"""What a study writes of its results: the page, tables, figures, folders to read."""
