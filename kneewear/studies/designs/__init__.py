"""Tests of designs without an activity: contact characterisation and laxity."""
