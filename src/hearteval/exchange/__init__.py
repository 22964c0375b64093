"""Files and dataframes of votes and ratings -> arrays. Opens no store, computes no statistic."""
