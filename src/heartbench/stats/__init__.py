"""Mathematics on arrays only: no system has a name here, and errors carry indices."""
