"""`compute destroy`: deletes workloads, and waits until they are gone."""
