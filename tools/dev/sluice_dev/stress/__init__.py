"""scripts/stress: random programs under memory pressure and CPU overload."""
