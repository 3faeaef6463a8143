"""Real peers for the tests, built from source through the Go module proxy that `go` is set to.

Run it with `make peers`. What was built is kept in a folder outside of the checkout that is named
after the versions, so every checkout and every run after the first finds it there. Runs on the
standard library alone.
"""
