"""Simulate the chosen designs in full and gather the view of them (rule simulate_chosen)."""

from kneewear.activity.activity import Activity
from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.documents import load_table, save_json
from kneewear.joblog import job_log
from kneewear.report.design_view import build_design_view
from kneewear.settings.optimisation import OptimisationStudy
from kneewear.studies.optimisation.front import shown_designs, simulate_design

with job_log(snakemake.log[0], snakemake.threads):
    study = OptimisationStudy(**snakemake.params.study)
    activities = {one.name: one for one in netcdf.load_all(Activity, snakemake.input.activities)}
    nominal = netcdf.load(KneeModel, snakemake.input.knee)
    front, chosen = load_table(snakemake.input.front), load_table(snakemake.input.chosen)
    designs = {
        row["chosen"]: simulate_design(study, nominal, activities, row)
        for _, row in shown_designs(study.optimisation, front, chosen).iterrows()
    }
    for name, path in zip(chosen["chosen"], snakemake.output.knees, strict=True):
        netcdf.save(designs[name].knee, path)
    save_json(build_design_view(study.optimisation, designs), snakemake.output.view)
