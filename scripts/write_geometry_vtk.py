"""Write surfaces, control nets and element grid for ParaView (rule write_geometry_vtk)."""

from pathlib import Path

from kneewear.io.knee import load_knee
from kneewear.io.vtk import save_geometry_vtk
from kneewear.joblog import job_log

with job_log(snakemake.log[0], snakemake.threads):
    knee = load_knee(snakemake.input.knee)
    save_geometry_vtk(
        implant=knee.implant,
        grid=knee.grid,
        folder=Path(snakemake.output[0]).parent,
    )
