"""The command line: parses, prints and decides nothing; what a verb does is in `study`."""
