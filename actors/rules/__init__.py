"""Rules hold pure knowledge that several actors go by; they import `events` and nothing else."""
