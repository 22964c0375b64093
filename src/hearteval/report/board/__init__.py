"""The public board: a ranking that others can check, as pages, as JSON and as badges.

It shows releases. What is drawn and worded of a study is that of its report (`hearteval.report`).
"""
