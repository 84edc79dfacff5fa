"""Shipped settings files that come after another one."""

from __future__ import annotations

AFTER = {
    "config/coupled_dm.yaml": "config/dm_fluoroscopy.yaml",
    "config/dm_predicted.yaml": "config/dm_measured.yaml",
    "config/fe_knee_natural.yaml": "config/fe_knee.yaml",
    "config/fe_twin_dm.yaml": "config/dm_measured.yaml",
    "config/fe_twin_dm_swing.yaml": "config/dm_measured.yaml",
    "config/fe_twin_edge.yaml": "config/fe_twin.yaml",
    "config/fe_twin_stabilised.yaml": "config/fe_twin.yaml",
    "config/fe_twin_swing.yaml": "config/fe_twin.yaml",
    "config/fe_twin_yield.yaml": "config/fe_twin.yaml",
    "config/knee_extension_patches.yaml": "config/knee_extension.yaml",
    "config/patellar_button_flexion.yaml": "config/patellar_button_dm.yaml",
    "config/soft_tissue_laxity.yaml": "config/tkr_soft_tissue.yaml",
    "config/planar_knee_natural.yaml": "config/planar_knee.yaml",
    "config/uncertainty/one_at_a_time.yaml": "config/monte_carlo.yaml",
    "config/uncertainty/variance_based.yaml": "config/monte_carlo.yaml",
    "config/uncertainty/dm_monte_carlo.yaml": "config/dm_fluoroscopy.yaml",
}
