"""Solve the model of a multibody study (rule solve_multibody)."""

from kneewear.io.documents import save_json, save_table
from kneewear.io.multibody_inputs import load_parts, load_settings
from kneewear.joblog import job_log
from kneewear.studies.multibody.models import solve_model
from kneewear.studies.multibody.result import scene_record

with job_log(snakemake.log[0], snakemake.threads):
    settings = load_settings(snakemake.params.multibody)
    result = solve_model(load_parts(settings, snakemake.params.files), settings)
    for name in sorted({*snakemake.output.keys()} - {"scene"}):
        save_table(getattr(result, name), snakemake.output[name])
    save_json(scene_record(result.scene), snakemake.output.scene)
