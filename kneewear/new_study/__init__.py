"""Settings of new studies from the files of an implant or from a model of OpenSim."""
