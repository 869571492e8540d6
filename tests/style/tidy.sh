#!/bin/bash
# tidy.sh BUILD [FILE]...: what clang-tidy has to say about the sources that BUILD compiles. Prints
# findings only, each once, however many sources include the header that it is in.
set -euo pipefail
build=$1
shift

release=14
program=$(command -v "clang-tidy-$release" || command -v clang-tidy || true)
if [[ -z $program ]] || ! "$program" --version | grep -q "version $release\."; then
    echo "SKIPPED: needs clang-tidy $release, has ${program:-none}"
    exit 77
fi
if (($# > 0)); then
    files=("$@")
else
    mapfile -t files < <(sed -nE 's/^ *"file": "(.*)",?$/\1/p' "$build/compile_commands.json" | sort -u)
fi
((${#files[@]} > 0)) || { echo "tidy: $build/compile_commands.json names no file" >&2; exit 1; }

# g++ wrote the command lines: what clang does not know of them is no finding.
findings=$(printf '%s\0' "${files[@]}" |
    xargs -0 -n 1 -P 2 "$program" -p "$build" --quiet --extra-arg-before=-std=c++17 \
        --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-unused-command-line-argument 2>/dev/null |
    awk '/^[^ ].*: (warning|error): / { show = !seen[$0]++ } show') && status=0 || status=1
printf '%s' "${findings:+$findings$'\n'}"
echo "clang-tidy: ${#files[@]} sources, $(grep -cE ': (warning|error): ' <<<"$findings" || true) findings"
exit "$status"
