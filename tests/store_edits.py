"""Edits of a store by SQL, behind its back: each is to be noticed."""

BY_JUDGE = "raw LIKE '{%'"
ASSIGNED = "(SELECT assignment_id FROM judgments WHERE raw LIKE '{%')"
EDITS = {
    "a choice flipped": "UPDATE judgments SET choice = 'second' WHERE choice = 'first'",
    "a strength changed": f"UPDATE judgments SET strength = 5 WHERE {BY_JUDGE}",
    "an axis flipped": "UPDATE judgments SET axes = replace(axes, 'first', 'second')",
    "a reply replaced": "UPDATE judgments SET raw = replace(raw, '\"A\"', '\"B\"') WHERE raw > ''",
    "a cost changed": "UPDATE judgments SET cost = 0",
    "a time changed": f"UPDATE judgments SET created_at = created_at + 1 WHERE {BY_JUDGE}",
    "a judgment deleted": f"DELETE FROM judgments WHERE {BY_JUDGE}",
    "a judgment deleted with its assignment": (
        f"DELETE FROM attempts WHERE assignment_id IN {ASSIGNED};"
        "DELETE FROM judgments WHERE raw LIKE '{%' AND choice = 'second';"
        "DELETE FROM assignments WHERE repeat = 0"
        " AND NOT EXISTS (SELECT 1 FROM judgments WHERE assignment_id = assignments.id)"
        " AND NOT EXISTS (SELECT 1 FROM attempts WHERE assignment_id = assignments.id)"
    ),
    "a judgment given to another assignment": (
        "UPDATE judgments SET assignment_id = (SELECT id FROM assignments WHERE id NOT IN"
        f" (SELECT assignment_id FROM judgments)) WHERE choice = 'second' AND {BY_JUDGE}"
    ),
    "a text replaced": "UPDATE completions SET text = 'I hate you.' WHERE text = 'What now?'",
    "a text given to another system": (
        "UPDATE completions SET system_id = (SELECT id FROM systems WHERE name = 'stress-hostile')"
        " WHERE text = 'What now?'"
    ),
    "a system renamed": "UPDATE systems SET name = 'three' WHERE name = 'two'",
    "a judge's family changed": "UPDATE raters SET family = 'ours' WHERE name = 'judge'",
    "a dialogue edited": "UPDATE items SET context = replace(context, 'ferm', 'ouvert')",
    "an order turned": (
        "UPDATE assignments SET first_completion_id = (SELECT high_completion_id FROM pairs WHERE"
        " pairs.id = pair_id) WHERE first_completion_id = (SELECT low_completion_id FROM pairs"
        " WHERE pairs.id = pair_id)"
    ),
    "a pair's systems swapped": (
        "UPDATE pairs SET low_system_id = high_system_id, high_system_id = low_system_id"
    ),
    "an item taken out of a study": "DELETE FROM study_members WHERE kind = 'item'",
    "a study's seed changed": "UPDATE studies SET seed = 8 WHERE name = 'small'",
    "a study's settings changed": "UPDATE studies SET design = '{}' WHERE name = 'small'",
    "a fault deleted": "DELETE FROM attempts WHERE raw = 'no JSON at all'",
    "a verdict of a screening changed": "UPDATE screenings SET verdict = 'fail'",
    "a rating raised": "UPDATE ratings SET axes = replace(axes, '1', '5')",
    "a rating deleted": "DELETE FROM ratings",
    "a label turned": "UPDATE labels SET verdict = 'absent' WHERE verdict = 'present'",
    "a time to first word changed": "UPDATE latency_probes SET first_token_ms = 1",
    "a paid reply made cheaper": "UPDATE replies SET cost = 0",
    "a paid reply deleted": "DELETE FROM replies WHERE cost > 0",
    "a judgment slipped in": (
        "INSERT INTO judgments (id, assignment_id, choice, axes, reasons, rationale, raw,"
        " requested, effective, usage, cached, created_at, content) SELECT pair_id, a.id, 'tie',"
        " '{}', '{}', '', '', '{}', '{}', '{}', cached, created_at, j.content"
        " FROM judgments j, assignments a WHERE a.id NOT IN"
        " (SELECT assignment_id FROM judgments) LIMIT 1"
    ),
    "a hash made to fit": "UPDATE systems SET content = NULL WHERE name = 'two'",
    "the sums deleted": "DELETE FROM totals WHERE kind = 'judgment'",
}
