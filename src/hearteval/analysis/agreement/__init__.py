"""How far raters agree: tables of ratings, their parts, and votes on pairs."""
