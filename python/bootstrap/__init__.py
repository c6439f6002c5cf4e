"""The part of `rw` before the command line: it installs what is missing and builds what has changed.

Only the standard library is used here, because nothing else can be relied on yet.

`tools` lists the required programs and finds them, `packages` installs them, `steps` runs build steps in
parallel and records results, `builds` and `software` define these steps, `doctor` reports, `console` prints
messages.
"""
