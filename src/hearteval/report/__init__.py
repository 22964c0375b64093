"""STEP 5: results to text, HTML, CSV and one page (pure: returns strings, writes nothing).

`page` shows a whole study. `table` is the one table that every other module builds and that is
rendered last; `text` says how words and numbers are written, `figures` what the templates draw.
What is shown is what `analysis` returned: no estimate is made here.
"""
