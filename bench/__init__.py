"""Measures shardfs beside what else one could use: see scripts/bench."""
