"""What all others use: processes with a limit, build directories, pages, the statistics of repeated runs."""
