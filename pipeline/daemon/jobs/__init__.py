"""Jobs are taken on, scheduled and run here, and wait for approvals."""
