#!/bin/bash
# binary.sh plugin|program FILE: what a built file shows to its host and wants from it.
set -euo pipefail
kind=$1 file=$2
failed=0

# The plugin with its C++ runtime is about 0.5 MB; every slurmstepd and srun maps it.
most_bytes=1258291

fail() {
    printf '%s: %s\n' "$(basename "$file")" "$*" >&2
    failed=1
}

# same WHAT HAVE WANT: compares two lists.
same() {
    [[ $2 == "$3" ]] || fail "$1:"$'\n'"$(diff <(echo "$3") <(echo "$2") | sed -n 's/^</ missing:/p; s/^>/ not wanted:/p')"
}

# none WHAT LIST: the list is empty.
none() {
    [[ -z $2 ]] || fail "$1: $(tr '\n' ' ' <<<"$2")"
}

exports() {
    nm -D --defined-only "$file" | awk '{ print $NF }' | LC_ALL=C sort
}

# What it wants, but for what may be missing.
imports() {
    nm -D --undefined-only "$file" | awk '$1 != "w" { print $NF }' | LC_ALL=C sort
}

check_needed() {
    none "needs a library other than libc" "$(readelf -dW "$file" |
        sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc\.so\.6|ld-linux[a-z0-9_-]*\.so\.[0-9]+)$' || true)"
    none "brings a search path" "$(readelf -dW "$file" | grep -oE '\((RPATH|RUNPATH)\).*' || true)"
    none "has relocations in its text" "$(readelf -dW "$file" | grep -o -m1 TEXTREL || true)"
    readelf -dW "$file" | grep -qE 'FLAGS_1.*NOW|BIND_NOW' || fail "is bound lazily"
    readelf -lW "$file" | grep 'GNU_STACK' | grep -qv 'RWE' || fail "wants an executable stack"
}

# Code that runs when the file is loaded, in srun and in root's slurmstepd, and twice where Slurm
# looks at a plugin before it loads it. Two entries are nobody's choice: the compiler's frame_dummy, and
# the C++ runtime's reserve for exceptions (eh_alloc.cc). Any other is a global object with a constructor.
check_constructors() {
    local size
    none "runs constructors when it is loaded" "$(nm "$file" |
        sed -nE 's/.* _GLOBAL__(sub_)?I_(.*)/\2/p' | grep -v '^eh_alloc\.cc$' || true)"
    size=$(readelf -dW "$file" | sed -nE 's/.*\(INIT_ARRAYSZ\) +([0-9]+) .*/\1/p')
    ((${size:-0} <= 16)) || fail "has $size bytes of functions that run when it is loaded, not 16"
}

check_size() {
    local stripped
    stripped=$(mktemp)
    strip -o "$stripped" "$file"
    (($(stat -c %s "$stripped") <= most_bytes)) ||
        fail "is $(stat -c %s "$stripped") bytes when stripped, more than $most_bytes"
    rm -f "$stripped"
}

plugin() {
    same "exports" "$(exports)" "$(printf '%s\n' plugin_name plugin_type plugin_version \
        slurm_spank_init slurm_spank_init_post_opt slurm_spank_task_init spank_plugin_version)"
    none "exports unique symbols, which pin it in memory" \
        "$(nm -D --defined-only "$file" | awk '$2 == "u" { print $3 }')"
    none "wants symbols of neither libc nor Slurm" \
        "$(imports | grep -vE '@GLIBC_|^(slurm|spank)_' || true)"
    none "can load a library" "$(imports | grep -E '^(dlopen|dlmopen|dlsym|dlvsym)(@|$)' || true)"
    none "names a driver library" \
        "$(strings -a "$file" | grep -E 'lib(cuda|nvidia-ml|nvrtc)[a-z.-]*\.so' || true)"
    none "calls CUDA or NVML" "$(nm "$file" | awk '$NF ~ /^(cu[A-Z]|nvml)/ { print $NF }')"
    check_constructors
    check_size
}

program() {
    none "exports" "$(exports | grep -v '@GLIBC_' || true)"  # but for copies of libc's data
    none "wants symbols of another library than libc" "$(imports | grep -v '@GLIBC_' || true)"
}

[[ -r $file ]] || { echo "usage: binary.sh plugin|program FILE" >&2; exit 2; }
check_needed
"$kind"
exit "$failed"
