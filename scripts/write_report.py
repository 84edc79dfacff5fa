"""Write the page of a study of any kind, and where its results come from (rule write_report)."""

from os.path import dirname, relpath

from kneewear import default_settings_file
from kneewear.io.documents import save_bytes, save_json, save_text
from kneewear.io.page_contents import figure_files, page_contents, read_figures
from kneewear.joblog import job_log
from kneewear.provenance import provenance_record
from kneewear.report.page import render_page
from kneewear.report.pdf import write_pdf
from kneewear.settings.study import load_study

# Study kinds may have none of these.
LISTS = ("tables", "activities", "benchmarks", "calibration", "signs", "view")

with job_log(snakemake.log[0], snakemake.threads):
    settings = snakemake.params.settings
    records = {name: snakemake.params[name] for name in ("benchmarks", "logs")}
    provenance = provenance_record(settings, inputs=list(snakemake.input.data), **records)
    save_json(provenance, snakemake.output.provenance)
    contents = page_contents({name: snakemake.input.get(name, []) for name in LISTS})
    contents |= {"kind": settings["kind"], "study": settings, "provenance": provenance}
    vector, raster = (figure_files(snakemake.input.figures, suffix) for suffix in ("svg", "png"))
    beside = {name: relpath(path, dirname(snakemake.output.page)) for name, path in vector.items()}
    drawn = contents | {"figures": read_figures(vector), "files": beside}
    for part in ("page", "appendix"):
        save_text(render_page(**drawn, part=part), snakemake.output[part])
    defaults = load_study(default_settings_file()).model_dump(mode="json")
    contents |= {"figures": read_figures(raster), "view": None, "defaults": defaults}
    summary = render_page(**contents, part="summary")
    save_bytes(write_pdf(summary, f"Study {settings['study']}"), snakemake.output.summary)
