"""Compare one case at each accuracy with converged results (rule verify_accuracy)."""

from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.curves import read_activity
from kneewear.io.documents import save_table
from kneewear.joblog import job_log
from kneewear.settings.verification import VerificationStudy
from kneewear.verification.accuracy import verify_accuracy

with job_log(snakemake.log[0], snakemake.threads, side=snakemake.output):
    study = VerificationStudy(**snakemake.params.study)
    table = verify_accuracy(
        netcdf.load(KneeModel, snakemake.input.knee),
        study,
        lambda frames: [
            read_activity(name, block, snakemake.params.files[name], frames, study.implant.knee)
            for name, block in study.simulated_activities().items()
        ],
    )
    save_table(table, snakemake.output.accuracy)
