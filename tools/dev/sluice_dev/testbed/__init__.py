"""Several hosts on one machine, made of namespaces (tests/testbed)."""
