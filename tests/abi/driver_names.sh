#!/bin/sh
# driver_names.sh PROGRAM LIBCUDA HEADER FAKE: asks NVIDIA's LIBCUDA for every name that HEADER says
# the probe binds, older alternatives included, and for every one that the simulated driver exports.
set -eu
program=$1 libcuda=$2 header=$3 fake=$4

if [ ! -e "$libcuda" ]; then
    echo "SKIPPED: there is no real libcuda (see test real_libcuda), so no name was compared"
    exit 77
fi
bound=$(sed -nE 's/^inline constexpr char k[A-Za-z0-9]+\[\] = "(cu[A-Za-z0-9_]+)";$/\1/p' "$header")
if [ "$(echo "$bound" | wc -l)" -lt 10 ]; then
    echo "$header: the names of driver functions are not where they were looked for" >&2
    exit 1
fi
simulated=$(nm -D --defined-only "$fake" | awk '$3 ~ /^cu[A-Z]/ { print $3 }')
# shellcheck disable=SC2086  # names, one an argument
exec "$program" "$libcuda" $bound $simulated
