"""The Validator approves, refuses or asks a person before each step; only the composition root
imports it."""
