"""What people do in a study: who they are, what is given to whom, and what happened.

None of it is a record of the study. Who somebody is stands in tables of its own, which nothing
releases; what a person writes or judges becomes an ordinary record, in the transaction that closes
the task. The rules of assignment (DESIGN section 7) are constraints of the tables: see `tables`.
"""
