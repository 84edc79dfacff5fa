"""Write implant and damage for ParaView and CAD programs (rule export_files)."""

import logging
from pathlib import Path

from kneewear.base.schemas import DAMAGE
from kneewear.geometry.knee import KneeModel
from kneewear.io.cad import save_implant_step, unwritten_cad
from kneewear.report.vtk import save_damage_vtk, save_geometry_vtk
from kneewear.report.worn_insert import save_worn_insert
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf

with job_log(snakemake.log[0]):
    given, params, output = snakemake.input, snakemake.params, snakemake.output
    knee = netcdf.load(KneeModel, given.knee)
    save_geometry_vtk(knee.implant, knee.grid, Path(output.vtk[0]).parent)
    for path in output.step:
        save_implant_step(knee.implant, path)
    for finding in unwritten_cad():
        logging.getLogger("kneewear").warning("%s", finding)
    own = {"grid": knee.grid, "left": knee.implant.left}
    for maps, worn in zip(output.get("maps", []), output.get("worn", []), strict=True):
        damage = netcdf.load(DAMAGE, given.damage, only={"case": params.cases})
        save_damage_vtk(damage, folder=maps, **own)
        save_worn_insert(damage, case=params.case, folder=worn, **own)
