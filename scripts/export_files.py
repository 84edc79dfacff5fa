"""Write implants and damage for ParaView and CAD programs (rule export_files)."""

import logging
from pathlib import Path

from kneewear.base.schemas import DAMAGE
from kneewear.geometry.knee import KneeModel
from kneewear.io.cad import save_implant_step, unwritten_cad
from kneewear.report.vtk import save_damage_vtk, save_geometry_vtk
from kneewear.report.worn_insert import save_worn_insert
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf
from kneewear.study.job_files import JobFiles
from kneewear.study.models import Lazy

with job_log(snakemake.log[0]):
    given, output = JobFiles(snakemake.input), snakemake.output
    settings, folders = snakemake.params.settings, list(map(Path, snakemake.params.folders))
    # Of a search, the knees of the chosen designs, by their names.
    chosen = [given.inside("jobs").get(f"{folder.name}.nc") for folder in folders]
    files = [*given.paths("knee"), *filter(None, chosen)]
    knees = [netcdf.load(KneeModel, file) for file in files]
    for knee, folder in zip(knees, folders, strict=True):
        save_geometry_vtk(knee.implant, knee.grid, folder / "vtk")
    for knee, path in zip(knees, output.step, strict=False):
        save_implant_step(knee.implant, path)
    for finding in unwritten_cad():
        logging.getLogger("kneewear").warning("%s", finding)
    for path in output.get("designs", []):
        Lazy(snakemake.params.step)(settings["study"], given, path)
    own = {"grid": knees[0].grid, "left": knees[0].implant.left}
    for maps, worn in zip(output.get("vtk_maps", []), output.get("worn", []), strict=True):
        damage = netcdf.load(DAMAGE, given.paths("damage"), only={"case": settings["cases"]})
        save_damage_vtk(damage, folder=maps, **own)
        save_worn_insert(damage, case=settings["case"], folder=worn, **own)
