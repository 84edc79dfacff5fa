"""Ground floor of the rooms: settings engine, findings, datasets, cases, compilation of kernels."""
