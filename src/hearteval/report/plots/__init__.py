"""Figures for a paper, drawn with matplotlib: `files` names them all and makes the files.

Each module draws what one section of a report is about, on a figure that somebody else has made.
The report's own pictures are SVG in its page and need no matplotlib.
"""
