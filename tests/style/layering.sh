#!/bin/sh
# layering.sh ROOT: checks who includes and calls what under ROOT/src and ROOT/spank; layering.awk has the rules.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
files=$(find src spank -name '*.[ch]pp' -o -name '*.[ch]pp.in' -o -name '*.[ch]' | LC_ALL=C sort)
[ -n "$files" ] || { echo "layering: no source files in $1" >&2; exit 1; }
# shellcheck disable=SC2086  # names without blanks
awk -f "$here/layering.awk" $files
