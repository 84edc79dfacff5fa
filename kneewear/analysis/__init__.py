"""Analyses: tables of cases in, tables out."""
