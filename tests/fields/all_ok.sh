#!/usr/bin/env bash
# Runs the field cases on a cluster where every simulated GPU is healthy, whatever the tests say
# (AUTO_GPUS_ALL_OK=1). A case with a fault must fail there: one that passes does not test its fault.
# The cases that pass without one say why in ids.txt, and must pass.
#
#     all_ok.sh [FILE]...    the .bats files with field cases; all of them by default
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
case_name='^[A-M][0-9]{2} '
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

if (($# == 0)); then
    mapfile -t files < <(grep -lE '^@test "[A-M][0-9]{2} ' "$here"/../cluster/*.bats)
else
    files=("$@")
fi

# Two at a time: each has a cluster of its own, and mostly waits.
AUTO_GPUS_ALL_OK=1
export AUTO_GPUS_ALL_OK scratch case_name
# shellcheck disable=SC2016  # for the shells that xargs starts
printf '%s\0' "${files[@]}" | xargs -0 -P 2 -I FILE bash -c \
    'bats --filter "$case_name" "$1" </dev/null >"$scratch/$(basename "$1")" 2>&1; true' - FILE

# reason ID: why it passes without a fault; empty where it must not.
reason() {
    sed -nE "s/^$1 \|[^|]*\|[^|]*\| *(.*)/\1/p" "$here/ids.txt"
}

faults=0 seen=0
complain() {
    echo "*** $1"
    faults=$((faults + 1))
}

for file in "${files[@]}"; do
    log=$scratch/$(basename "$file")
    planned=$(sed -nE '1s/^1\.\.([0-9]+)$/\1/p' "$log")
    results=$(grep -cE '^(ok|not ok) [0-9]+ [A-M][0-9]{2} ' "$log")
    if [[ ${planned:-0} == 0 || $planned != "$results" ]]; then
        complain "$file: ${results} of ${planned:-no} tests ran"
        tail -n 20 "$log"
        continue
    fi
    while read -r result id name; do
        seen=$((seen + 1))
        why=$(reason "$id")
        [[ $name != *'# skip'* ]] || continue
        if [[ $result == ok && -z $why ]]; then
            complain "$id passes though every GPU is healthy: $(basename "$file"): $id $name"
        elif [[ $result != ok && -n $why ]]; then
            complain "$id needs no fault ($why), but fails where every GPU is healthy: $(basename "$file"): $id $name"
        fi
    done < <(sed -nE 's/^(ok|not ok) [0-9]+ ([A-M][0-9]{2}) (.*)/\1 \2 \3/p' "$log" | sed 's/^not ok/failed/')
done
echo "$seen field cases without faults: $faults complaints"
((faults == 0 && seen > 0))
