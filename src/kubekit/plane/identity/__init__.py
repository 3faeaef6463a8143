"""Service accounts: who a process is, when it speaks to a plane, and the tokens that say so."""
