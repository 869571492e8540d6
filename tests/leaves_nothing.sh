#!/bin/bash
# leaves_nothing.sh [SECONDS]: whether the tests left something on this machine. AUTO_GPUS_SNAPSHOT
# names what `cluster snapshot` printed before the first of them; run.sh sets it.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
before=${AUTO_GPUS_SNAPSHOT:-}
patience=${1:-5}  # daemons that were told to end may take a moment

if [[ ! -r $before ]]; then
    echo "SKIPPED: what was there before is not known; tests/run.sh notes it"
    exit 77
fi

# Others may be at work on this host: in /tmp only what looks like ours counts.
differences() {
    diff "$before" <("$here/cluster/cluster" snapshot) | sed -n 's/^</gone:/p; s/^>/left behind:/p' |
        awk '!/: tmp / || $NF ~ "^/tmp/(ag[a-z][.]|auto-gpus|bats-|tmp[.])"'
}

# Processes that have our environment, whatever their name, but for those that this one runs below.
processes() {
    local pid ours=" $$ $BASHPID " up=$PPID
    while ((up > 1)); do
        ours+="$up "
        up=$(awk '{ print $4 }' <<<"$(sed 's/(.*)/x/' "/proc/$up/stat")") || break
    done
    for pid in /proc/[0-9]*; do
        pid=${pid#/proc/}
        [[ $ours != *" $pid "* ]] &&
            grep -qzxF "AUTO_GPUS_SNAPSHOT=$before" "/proc/$pid/environ" || continue
        [[ $(ps -o ppid= -p "$pid" | tr -d ' ') == "$BASHPID" ]] ||
            ps -o pid=,ppid=,user=,args= -p "$pid" | sed 's/^/left running: /'
    done 2>/dev/null
}

for ((i = 0; i <= patience * 4; i++)); do
    found=$(differences; processes)
    [[ -n $found ]] || exit 0
    sleep 0.25
done
printf '%s\n' "$found"
exit 1
