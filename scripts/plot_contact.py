"""Draw contact over the cycle, and gather what the view of the insert shows (rule plot_contact)."""

from kneewear.activity.activity import Activity
from kneewear.activity.sources import rebuild_activities
from kneewear.base.schemas import CONTACT, DAMAGE
from kneewear.geometry.knee import KneeModel
from kneewear.io.documents import save_figures, save_json
from kneewear.motion.history import keep_common
from kneewear.report.figures import draw_contact
from kneewear.report.insert_view import build_insert_view
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf
from kneewear.wear.records import record_cycles

with job_log(snakemake.log[0]):
    given, params = snakemake.input, snakemake.params
    knee = netcdf.load(KneeModel, given.knee)
    activities = list(netcdf.load_all(Activity, given.activities))
    cycles = netcdf.load_all(CONTACT, given.histories, leave_out=("pressure", "slip"))
    histories = netcdf.load_all(CONTACT, given.centre, only={"case": [params.case]})
    figures = draw_contact(
        implant=knee.implant,
        grid=knee.grid,
        cycles=record_cycles(keep_common(list(cycles))),
        activities=rebuild_activities(activities, params.activities),
        histories=keep_common(list(histories)),
        limits=params.limits,
        poisson_ratio=params.poisson_ratio,
    )
    save_figures(figures, snakemake.output.figures, **snakemake.params.drawn)
    batches = (netcdf.load_cases(CONTACT, [one], ["slip"], params.cases) for one in given.histories)
    view = build_insert_view(
        implant=knee.implant,
        grid=knee.grid,
        maps=netcdf.load(DAMAGE, given.damage, only={"case": params.cases}),
        percent=activities[0].percent,
        first=params.case,
        histories=(one for batch in batches for (one,) in batch),
    )
    save_json(view, snakemake.output.view)
