"""Finite elements beside the foundation for the frames of one case (rule compute_twin)."""

from kneewear.activity.activity import Activity
from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.documents import save_table
from kneewear.io.vtk import save_solids_vtk
from kneewear.joblog import job_log
from kneewear.settings.cases import Case
from kneewear.settings.fe_twin import FeTwinSettings
from kneewear.settings.simulation import SimulationSettings
from kneewear.studies.fe_twin.twin import compute_twin

with job_log(snakemake.log[0], snakemake.threads):
    knee = netcdf.load(KneeModel, snakemake.input.knee)
    found = compute_twin(
        knee,
        activity=netcdf.load(Activity, snakemake.input.activity),
        case=Case(**snakemake.params.case),
        frames=tuple(snakemake.params.frames),
        settings=FeTwinSettings(**snakemake.params.fe_twin),
        simulation=SimulationSettings(**snakemake.params.simulation),
    )
    save_table(found.results, snakemake.output.results)
    save_table(found.maps, snakemake.output.maps)
    save_table(found.profiles, snakemake.output.profiles)
    save_table(found.solids, snakemake.output.solids)
    save_solids_vtk(found.fields, snakemake.output.vtk, knee.implant.left)
