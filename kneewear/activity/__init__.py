"""Motion and load of one cycle of an activity."""

from kneewear.activity.activity import Activity
from kneewear.activity.parametric import build_parametric_activity
from kneewear.activity.sources import build_activity
from kneewear.activity.uncertainty import sample_activity

__all__ = ["Activity", "build_activity", "build_parametric_activity", "sample_activity"]
