"""Write surfaces, control nets and element grid for ParaView (rule write_geometry_vtk)."""

from pathlib import Path

from kneewear.io.grid import load_grid
from kneewear.io.surfaces import load_implant
from kneewear.io.vtk import save_geometry_vtk
from kneewear.joblog import job_log

with job_log(snakemake.log[0], snakemake.threads):
    save_geometry_vtk(
        implant=load_implant(snakemake.input.surfaces),
        grid=load_grid(snakemake.input.grid),
        folder=Path(snakemake.output[0]).parent,
    )
