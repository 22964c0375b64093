"""Step 3, completions to judgments: what is compared, who judges, and the offline cue judge."""
