"""Item files, screened and escalated, for the verb heart items."""
