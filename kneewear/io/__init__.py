"""Readers and writers of files: NetCDF results, tables, figures, meshes, curves and CAD.

Import from the modules themselves: a script then depends on the formats it uses, and is not run
again because another format changed.
"""
