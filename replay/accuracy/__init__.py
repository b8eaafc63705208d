"""Accuracy compares how sure predictions were with how right they were; `pipeline` imports it."""
