"""Draw contact through the cycle (rule plot_contact)."""

from kneewear.activity.activity import Activity
from kneewear.activity.sources import rebuild_activities
from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.documents import save_figures
from kneewear.joblog import job_log
from kneewear.report.figures import draw_contact
from kneewear.simulation.history import ContactHistory, keep_common
from kneewear.wear.records import record_cycles

with job_log(snakemake.log[0], snakemake.threads):
    cycles = netcdf.load_all(
        ContactHistory, snakemake.input.histories, leave_out=("pressure", "slip")
    )
    histories = netcdf.load_all(
        ContactHistory, snakemake.input.centre, only={"case": [snakemake.params.case]}
    )
    knee = netcdf.load(KneeModel, snakemake.input.knee)
    figures = draw_contact(
        implant=knee.implant,
        grid=knee.grid,
        cycles=record_cycles(keep_common(list(cycles))),
        activities=rebuild_activities(
            netcdf.load_all(Activity, snakemake.input.activities), snakemake.params.activities
        ),
        histories=keep_common(list(histories)),
        limits=snakemake.params.limits,
    )
    save_figures(figures, snakemake.output.figures)
