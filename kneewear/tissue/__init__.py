"""Ligaments, tendons and muscles: tension laws, bundles of fibres and wrapping."""
