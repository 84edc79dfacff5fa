"""Contact between surfaces of the moving body and the elements of the fixed one."""
