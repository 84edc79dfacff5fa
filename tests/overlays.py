"""Shipped settings files that come after another one."""

from __future__ import annotations

AFTER = {
    "config/evidence/coupled_dm.yaml": "config/dm_fluoroscopy.yaml",
    "config/evidence/dm_predicted.yaml": "config/evidence/dm_measured.yaml",
    "config/papers/fe_knee_natural.yaml": "config/papers/fe_knee.yaml",
    "config/evidence/fe_twin_dm.yaml": "config/evidence/dm_measured.yaml",
    "config/evidence/fe_twin_dm_swing.yaml": "config/evidence/dm_measured.yaml",
    "config/evidence/fe_twin_edge.yaml": "config/evidence/fe_twin.yaml",
    "config/evidence/fe_twin_stabilised.yaml": "config/evidence/fe_twin.yaml",
    "config/evidence/fe_twin_swing.yaml": "config/evidence/fe_twin.yaml",
    "config/evidence/fe_twin_yield.yaml": "config/evidence/fe_twin.yaml",
    "config/evidence/wear_posterior.yaml": "config/evidence/measured_wear.yaml",
    "config/papers/knee_extension_patches.yaml": "config/papers/knee_extension.yaml",
    "config/evidence/patellar_button_flexion.yaml": "config/evidence/patellar_button_dm.yaml",
    "config/evidence/soft_tissue_laxity.yaml": "config/evidence/tkr_soft_tissue.yaml",
    "config/papers/planar_knee_natural.yaml": "config/papers/planar_knee.yaml",
    "config/evidence/uncertainty/one_at_a_time.yaml": "config/monte_carlo.yaml",
    "config/evidence/uncertainty/variance_based.yaml": "config/monte_carlo.yaml",
    "config/evidence/uncertainty/dm_monte_carlo.yaml": "config/dm_fluoroscopy.yaml",
}
