"""Versions of kneewear, Python and the libraries that results depend on."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from kneewear import __version__

# In place of the version of a package.
NOT_INSTALLED = "not installed"
LIBRARIES = (
    "numpy",
    "scipy",
    "numba",
    "pandas",
    "h5netcdf",
    "h5py",
    "jinja2",
    "pyyaml",
    "ruamel.yaml",
    "SALib",
    "scikit-sundae",
    "statsmodels",
    "matplotlib",
    "vtk",
    "xarray",
    "itables",
    "trimesh",
    "pydantic",
    "fpdf2",
    "pillow",
    "plyfile",
    "pymoo",
    "emcee",
    "snakemake",
    "contourpy",
    "psutil",
    "packaging",
    "rocrate",
    "python-docx",
    "openpyxl",
)


def software_versions() -> dict[str, str]:
    """Versions of kneewear, of Python and of the libraries, by name."""
    own = {"kneewear": __version__, "python": platform.python_version()}
    return own | {library: _version(library) for library in LIBRARIES}


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return NOT_INSTALLED
