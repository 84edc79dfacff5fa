"""Draw the film of the view of a study over one cycle (rule draw_film)."""

from kneewear.io.documents import load_json, save_bytes
from kneewear.report.film import film
from kneewear.report.page_contents import view_files
from kneewear.runs.joblog import job_log

with job_log(snakemake.log[0]):
    views = map(load_json, view_files(snakemake.input.figures))
    save_bytes(film(views), snakemake.output[0])
