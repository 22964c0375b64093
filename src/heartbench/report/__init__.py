"""STEP 5: results to text, CSV and one HTML page (pure: returns strings, writes nothing).

`page` renders the page, `leaderboard` the ranking for terminals and spreadsheets; `figures` and
`colours` hold the geometry and the heat scale the templates draw with. What is shown is what
`analysis` returned: no estimate is made here.
"""
