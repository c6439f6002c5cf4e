"""Text forms of durations and arrivals; they need no engine, so that --help works before one is built."""

WORK_FORMS = "constant:US, exponential:MEAN, bimodal:SHORT,LONG,FRACTION, log-normal:MEAN,SIGMA or trace:FILE"
ARRIVAL_FORMS = "poisson, constant, bursty:FACTOR,FRACTION,US or trace:FILE"
