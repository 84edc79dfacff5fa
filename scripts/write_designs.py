"""Write the chosen designs as wear studies of their own (rule write_designs)."""

from kneewear.io.documents import load_table, save_settings
from kneewear.runs.joblog import job_log
from kneewear.study.designs import chosen_study
from kneewear.study.study import WearStudy

with job_log(snakemake.log[0]):
    study = WearStudy(**snakemake.params.study)
    chosen = load_table(snakemake.input.chosen)
    for path, (_, row) in zip(snakemake.output.studies, chosen.iterrows(), strict=True):
        save_settings(chosen_study(study, row).model_dump(mode="json"), path)
