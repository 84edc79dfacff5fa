"""The picture of the rules is that of the workflow."""

from __future__ import annotations

import html
import re

import pytest

from docs.generators.rulegraph import PICTURE, described, draw_rules, rule_edges


@pytest.mark.workflow
@pytest.mark.slow
def test_picture_is_up_to_date():
    edges = rule_edges()
    kept = re.search(r"<dc:description>(.*?)</dc:description>", PICTURE.read_text(), re.DOTALL)[1]
    shown = {tuple(one.split(" > ")) for one in html.unescape(kept).strip().split("; ")}
    remedy = "python -m docs.generators.rulegraph renews the picture"
    assert shown == edges, remedy
    assert len(described(edges)) > 100
    assert len(draw_rules(edges).axes[0].texts) >= len({name for edge in edges for name in edge})
