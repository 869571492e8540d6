#!/bin/sh
# driver_names.sh PROGRAM FOLDER SOURCES FAKE: asks NVIDIA's libraries in FOLDER for every name that
# the probe's SOURCES bind, older alternatives included, and for every one that the simulated driver
# exports.
set -eu
program=$1 folder=$2 sources=$3 fake=$4

if [ ! -e "$folder/complete" ]; then
    echo "SKIPPED: NVIDIA's libraries are not there (see test real_libcuda), so no name was compared"
    exit 77
fi

# names PREFIX LEAST: the string literals of the probe that are names of functions.
names() {
    found=$(grep -hoE "\"$1[A-Z][A-Za-z0-9_]+\"" "$sources"/*.?pp | tr -d '"' | sort -u)
    if [ "$(echo "$found" | wc -l)" -lt "$2" ]; then
        echo "$sources: fewer than $2 names of functions that begin with $1" >&2
        return 1
    fi
    echo "$found"
}

exported() {
    nm -D --defined-only "$1" | sed -E 's/.* //; s/@.*//' | sort -u
}

cuda=$(names cu 10)
nvml=$(names nvml 3)
for name in $nvml; do
    exported "$folder/libnvidia-ml.so.1" | grep -qx "$name" || missing="${missing:-} $name"
done
if [ -n "${missing:-}" ]; then
    echo "not exported by libnvidia-ml.so.1:$missing" >&2
    exit 1
fi
simulated=$(exported "$fake" | grep -E '^cu[A-Z]')
# shellcheck disable=SC2086  # names, one an argument
# As root NVIDIA's library would make /dev/nvidiactl, here where no driver is.
as_nobody=
[ "$(id -u)" != 0 ] || as_nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
exec $as_nobody "$program" "$folder/libcuda.so.1" $cuda $simulated
