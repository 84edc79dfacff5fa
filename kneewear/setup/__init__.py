"""Set-up of a study from files (`kneewear new`): recognise files, write settings."""
