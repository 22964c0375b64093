"""The command line: builds the store, the clock and the judges, and calls the steps."""
