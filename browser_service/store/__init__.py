"""Keeps what outlives the process: the journal, which has the only SQL, and the files of artifacts."""
