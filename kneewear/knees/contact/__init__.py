"""Contact of bodies that are no implant: meshes, points and impacts."""
