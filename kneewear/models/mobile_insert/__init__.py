"""Wear of both faces of an insert that moves on its tray."""
