"""Tables of study records in files: what `heart export` writes and `heart import` reads.

A table is one kind of record, with names beside ids; its columns are listed in
``docs/how-to/data-in-and-out.md``. Whose words may leave a study is decided where it is read.
"""
