"""What `rw` does before the command line starts: installs what is missing, builds what changed.

Only the standard library is used here, because nothing else can be relied on yet.

`tools` knows the programs that are needed and how to find them, `packages` installs them, `steps`
runs build steps side by side and remembers what is done, `builds` and `software` say what those
steps are, `doctor` reports, `console` talks to the user.
"""
