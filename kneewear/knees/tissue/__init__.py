"""Soft tissue: bundles of fibres, and the surfaces they wrap on."""
