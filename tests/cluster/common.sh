# What the cluster script and its users share. Sourced.
# shellcheck shell=bash

poll_interval=0.05

# The daemons are in sbin, which not every root has in his PATH.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

# The user that jobs run as. Slurm needs a passwd entry, no more.
job_user=${AUTO_GPUS_TEST_USER:-nobody}

die() {
    printf '%s\n' "$*" >&2
    exit 2
}

# uptime_cs: sets `now`, in hundredths of a second; no change of the clock disturbs it.
uptime_cs() {
    read -r now _ </proc/uptime
    now=${now/./}
}

# wait_until SECONDS COMMAND...: polls until COMMAND succeeds; 1 when it did not in time.
wait_until() {
    local now deadline
    uptime_cs
    deadline=$((now + $1 * 100))
    shift
    until "$@"; do
        uptime_cs
        ((now < deadline)) || return 1
        sleep "$poll_interval"
    done
}

# show_logs DIR [LINES]: the end of each log, for whoever has to find out what went wrong. What a
# daemon printed says more than its log only where there is no log.
show_logs() {
    local log
    for log in "$1"/log/*; do
        [[ -s $log && ! ($log == *.out && -s ${log%.out}) ]] || continue
        printf -- '--- %s\n' "$log"
        tail -n "${2:-15}" "$log"
    done
}

# nodes_idle COUNT: so many nodes, and all are idle. Asks the cluster that SLURM_CONF names.
nodes_idle() {
    local states
    states=$(timeout 5 sinfo -h -N -o %T 2>/dev/null) && [[ $(grep -cx idle <<<"$states") == "$1" ]]
}
