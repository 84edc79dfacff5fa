"""Names of the sides of a knee, as settings, files and tables have them."""

from __future__ import annotations

SIDES = ("medial", "lateral")
# What cam and post are called where sides are named.
POST = "post"
# The whole insert, where a table has a row for it.
BOTH = "both"
