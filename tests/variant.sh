#!/bin/bash
# variant.sh clang|sanitize|bare CMAKE SOURCE FOLDER GENERATOR: builds the tree in another way, in a
# FOLDER of its own, and tests what came out.
set -euo pipefail
variant=$1 cmake=$2 source=$3 build=$4/build generator=$5
prefix="$4/a prefix with blanks"

# configure FOLDER [OPTION]...
configure() {
    "$cmake" -S "$source" -B "$1" -G "$generator" -DAUTO_GPUS_WERROR=ON "${@:2}"
}

# unit_tests: builds all and runs what needs neither root nor a cluster.
unit_tests() {
    "$cmake" --build "$build" --parallel 2
    "$(dirname "$cmake")/ctest" --test-dir "$build" -L unit --output-on-failure --no-tests=error
}

fail() {
    printf '%s: %s\n' "$variant" "$*" >&2
    exit 1
}

clang() {
    command -v clang++ >/dev/null || { echo "SKIPPED: there is no clang++"; exit 77; }
    configure "$build" -DCMAKE_CXX_COMPILER=clang++
    unit_tests
}

sanitize() {
    configure "$build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG='-O1 -g1' \
        -DAUTO_GPUS_SANITIZE='address;undefined'
    unit_tests
}

# What a packager does, who has none of what the tests need.
bare() {
    rm -rf "$build" "$prefix"
    export PKG_CONFIG_LIBDIR=/nonexistent PKG_CONFIG_PATH=
    configure "$build" -DBUILD_TESTING=OFF -DCMAKE_INSTALL_PREFIX="$prefix"
    "$cmake" --build "$build" --parallel 2
    "$cmake" --install "$build"
    check_installed
    check_tests_want_check
}

check_installed() {
    local plugin_dir files expected version
    plugin_dir=$(sed -n 's/^AUTO_GPUS_PLUGIN_DIR:STRING=//p' "$build/CMakeCache.txt")
    files=$(cd "$prefix" && find . ! -type d -printf '%P\n' | LC_ALL=C sort)
    expected=$(printf '%s\n' bin/auto-gpus etc/slurm/plugstack.conf.d/auto-gpus.conf \
        "$plugin_dir/spank_auto_gpus.so" | LC_ALL=C sort)
    diff <(echo "$expected") <(echo "$files") || fail "installs other files than expected (<)"
    "$source/tests/abi/binary.sh" plugin "$prefix/$plugin_dir/spank_auto_gpus.so"
    "$source/tests/abi/binary.sh" program "$prefix/bin/auto-gpus"

    version=$(sed -nE 's/^project\(.* VERSION ([0-9.]+).*/\1/p' "$source/CMakeLists.txt")
    [[ $(env -i "$prefix/bin/auto-gpus" --version) == *"$version"* ]] ||
        fail "auto-gpus --version does not say $version"
}

# With its tests, the tree wants Check and says so.
check_tests_want_check() {
    local said
    ! said=$(configure "$build-tests" 2>&1) || fail "configures its tests without Check"
    [[ $said == *"Install check (Debian"* ]] || fail "does not name the package of Check: $said"
    rm -rf "$build-tests"
}

case $variant in
    clang | sanitize | bare) "$variant" ;;
    *) fail "unknown variant" ;;
esac
