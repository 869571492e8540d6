#!/usr/bin/env bash
# table.sh fails where a case has lost its test, and where a test is named by an id that is none.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/tests/fields" "$tree/tests/unit"

# fresh: a tree whose every case has a test.
fresh() {
    cp "$here/ids.txt" "$tree/tests/fields/"
    : >"$tree/README.md"
    grep -v '^#' "$here/ids.txt" | grep -oE '^[A-M][0-9]{2}' | sed 's/.*/@test "& is covered" {/' >"$tree/tests/all.bats"
}

# expect STATUS TEXT: what table.sh ends with, and a part of what it says.
expect() {
    local status=0
    "$here/table.sh" "$tree" >"$tree/out" 2>&1 || status=$?
    if [[ $status != "$1" ]] || ! grep -qF -e "$2" "$tree/out"; then
        echo "expected status $1 and: $2; got $status and:"
        cat "$tree/out"
        exit 1
    fi
}

fresh
expect 0 '142 field cases: 142 with a test or a sentence, 0 left to later parts'
grep -v '"A01 ' "$tree/tests/all.bats" >"$tree/x" && mv "$tree/x" "$tree/tests/all.bats"
expect 1 '*** A01 (one of two exclusive GPUs is taken) has no test, and no sentence in README.md'
echo '{"A01 by a row of a unit test", 1},' >"$tree/tests/unit/x_test.cpp"
expect 0 'A01  one of two exclusive GPUs is taken                   tests/unit/x_test.cpp: A01 by a row of a unit test'
rm "$tree/tests/unit/x_test.cpp"
printf 'Text. <!-- A01 --> <!-- A02 --> This is a\nlimit. More.\n' >"$tree/README.md"
expect 0 'README.md: This is a limit.'
fresh
grep -v '"B01 ' "$tree/tests/all.bats" >"$tree/x" && mv "$tree/x" "$tree/tests/all.bats"
expect 0 'left to "One decision"'
echo '@test "A99 is no case" {' >>"$tree/tests/all.bats"
expect 1 '*** a test is named A99, which is not in ids.txt: tests/all.bats: A99 is no case'
fresh
sed -i 's/| main job/| some job/' "$tree/tests/fields/ids.txt"
expect 1 "*** A01: 'some job' is no part of the work"
