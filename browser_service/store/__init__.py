"""Storage that outlives the process: the journal, which alone runs SQL, and the files of artifacts."""
