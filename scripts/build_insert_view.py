"""Gather what the interactive view of the page shows (rule build_insert_view)."""

from kneewear.io.cycles import load_cycles
from kneewear.io.damage import load_damage
from kneewear.io.document import save_json
from kneewear.io.grid import load_grid
from kneewear.io.history import load_history
from kneewear.io.surfaces import load_implant
from kneewear.joblog import job_log
from kneewear.report.insert_view import build_insert_view

with job_log(snakemake.log[0], snakemake.threads):
    view = build_insert_view(
        implant=load_implant(snakemake.input.surfaces),
        grid=load_grid(snakemake.input.grid),
        maps=load_damage(snakemake.input.damage),
        cycles=load_cycles(snakemake.input.cycles),
        histories=(load_history(path, leave_out=["slip"]) for path in snakemake.input.histories),
    )
    save_json(view, snakemake.output.view)
