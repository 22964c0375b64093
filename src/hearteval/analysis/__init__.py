"""STEP 4: judgments -> results. Pure: records and columns in, frozen results out."""
