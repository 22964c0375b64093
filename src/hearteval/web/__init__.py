"""The pages on which people write, judge, rate and review, and where a study is watched.

Built on `hearteval.study.people`; knows no command line and no SQL. Everything works without
JavaScript: htmx and a small script of our own keep drafts and what was typed when a connection is
lost. Pages are the same for everybody but for the words: see `tests/web/test_blinding.py`.
"""
