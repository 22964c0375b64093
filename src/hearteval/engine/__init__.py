"""The seam to where work runs; this process is the only place so far."""
