#!/bin/bash
# format.sh ROOT: whether clang-format would leave all C++ files as they are.
set -euo pipefail
cd "$1"

# Releases lay out the same text differently: the tree is kept with this one.
release=14
program=$(command -v "clang-format-$release" || command -v clang-format || true)
if [[ -z $program ]] || ! "$program" --version | grep -q "version $release\."; then
    echo "SKIPPED: needs clang-format $release, has ${program:-none} $([[ -z $program ]] || "$program" --version)"
    exit 77
fi
find src spank tests -name '*.[ch]pp' -print0 | xargs -0 "$program" --dry-run -Werror --ferror-limit=1
