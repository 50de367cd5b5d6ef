"""Guests with a verbs device made of software (tests/testbed/softroce)."""
