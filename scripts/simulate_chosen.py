"""Simulate the chosen designs in full and gather the view of them (rule simulate_chosen)."""

from kneewear.activity.activity import Activity
from kneewear.analysis.front import shown_designs
from kneewear.geometry.knee import KneeModel
from kneewear.io.documents import load_table, save_json
from kneewear.report.design_view import build_design_view
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf
from kneewear.study.designs import simulate_design
from kneewear.study.inputs import CaseInputs
from kneewear.study.search import with_grid
from kneewear.study.study import WearStudy

with job_log(snakemake.log[0]):
    study = WearStudy(**snakemake.params.study)
    knee = with_grid(study, netcdf.load(KneeModel, snakemake.input.knee))
    activities = {one.name: one for one in netcdf.load_all(Activity, snakemake.input.activities)}
    inputs = CaseInputs(study, knee, activities, exact=not study.reads_distance_tables)
    front, chosen = load_table(snakemake.input.front), load_table(snakemake.input.chosen)
    designs = {
        row["chosen"]: simulate_design(study, inputs, row)
        for _, row in shown_designs(study.cases, front, chosen).iterrows()
    }
    for name, path in zip(chosen["chosen"], snakemake.output.knees, strict=True):
        netcdf.save(designs[name].knee, path)
    variables = study.model_dump(mode="json")["variables"]
    save_json(build_design_view(variables, designs), snakemake.output.view)
