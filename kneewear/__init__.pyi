from pathlib import Path

from kneewear.api import (
    Cycles as Cycles,
)
from kneewear.api import (
    Results as Results,
)
from kneewear.api import (
    accumulate_wear as accumulate_wear,
)
from kneewear.api import (
    build_knee as build_knee,
)
from kneewear.api import (
    compare as compare,
)
from kneewear.api import (
    default_study as default_study,
)
from kneewear.api import (
    evaluate_contact as evaluate_contact,
)
from kneewear.api import (
    load_study as load_study,
)
from kneewear.api import (
    open_results as open_results,
)
from kneewear.api import (
    run as run,
)
from kneewear.api import (
    simulate as simulate,
)
from kneewear.api import (
    tabulate_cases as tabulate_cases,
)
from kneewear.runs.results import StudyRun as StudyRun

__version__: str
JOB: str
COLLECTIONS: tuple[int, int, int]
RESULTS_SCHEMA: int

def checkout_folder() -> Path: ...
def default_settings_file() -> Path: ...
