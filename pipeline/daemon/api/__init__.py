"""HTTP: what the daemon can be asked, by subject. The guard in front says by whom."""
