"""Readers and writers, one module a file format.

Import from the modules themselves: a script then depends on the formats it uses and is not run
again because another format changed.
"""
