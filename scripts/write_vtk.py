"""Write the damage maps for ParaView (rule write_vtk)."""

from kneewear.io.damage import load_damage
from kneewear.io.grid import load_grid
from kneewear.io.surfaces import load_implant
from kneewear.io.vtk import save_damage_vtk
from kneewear.joblog import job_log

with job_log(snakemake.log[0], snakemake.threads):
    save_damage_vtk(
        maps=load_damage(snakemake.input.damage),
        grid=load_grid(snakemake.input.grid),
        folder=snakemake.output.maps,
        left=load_implant(snakemake.input.surfaces).left,
    )
