"""Point contacts of profiles and spheres, and impacts: what the knees of Machado share."""
