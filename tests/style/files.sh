#!/bin/bash
# files.sh ROOT: the tree's top level, and blanks and line ends in every text file of it. Long sources
# are named, which is not yet a fault.
set -euo pipefail
cd "$1"
failed=0
long=300

top='spank|src|tests|packaging|CMakeLists\.txt|README\.md|LICENSE|\..*'
ignored='build.*|compile_commands\.json'  # as .gitignore has it

# offences WHAT LIST: prints and remembers them.
offences() {
    [[ -n $2 ]] || return 0
    sed "s/\$/: $1/" <<<"$2"
    failed=1
}

# texts: all text files that are not empty, each ended by NUL.
texts() {
    find . -mindepth 1 -maxdepth 1 -regextype posix-extended ! -regex "\./($ignored|\.git|\.cache)" -print0 |
        find -files0-from - -type f -size +0 -exec grep -IlZ . {} +
}

offences "has no place on the top level" "$(find . -mindepth 1 -maxdepth 1 -regextype posix-extended \
    ! -regex "\./($top|$ignored)" -printf '%P\n')"
offences "blanks at the end of the line" \
    "$(texts | xargs -0 grep -nE '[[:blank:]]+$' | cut -d: -f1,2 || true)"
offences "CR at the end of the line" "$(texts | xargs -0 grep -n $'\r$' | cut -d: -f1,2 || true)"
offences "no newline at the end" "$(texts |
    while IFS= read -r -d '' file; do [[ -z $(tail -c 1 "$file") ]] || echo "$file"; done)"

find spank src tests -type f \( -name '*.[ch]pp' -o -name '*.sh' -o -name '*.bash' -o -name '*.bats' \) -exec wc -l {} + |
    awk -v long="$long" '$2 != "total" && $1 > long { print $2 ": " $1 " lines, more than " long }'
exit "$failed"
