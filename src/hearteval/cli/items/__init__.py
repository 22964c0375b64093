"""``heart items``: its verbs that write, check, rewrite and screen items."""
