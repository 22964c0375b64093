"""Study records out to tables, and tables of records from elsewhere into a study."""
