#!/bin/bash
# real_libcuda.sh FOLDER: lays NVIDIA's libcuda.so.1 and libnvidia-ml.so.1 down in FOLDER. They come
# from Debian's non-free packages, downloaded from this machine's own mirror by a private
# configuration of apt, unpacked and never installed. Status 77, with the reason, when they cannot be had.
set -euo pipefail
folder=$1
apt=$folder/apt
packages=(libcuda1 libnvidia-ml1)

skipped() {
    printf 'SKIPPED: NVIDIA'\''s libraries were not compared with: %s\n' "$1"
    [[ ! -s $folder/log ]] || tail -n 15 "$folder/log"
    rm -rf "$folder"
    exit 77
}

# sources: one line, FILE:NUMBER, for each entry of apt's sources that is this release's main archive.
sources() {
    # shellcheck disable=SC2016  # apt's own variables
    apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(SOURCESENTRY)' 'Created-By: Packages' |
        awk -v release="$VERSION_CODENAME" '$1 == release && $2 == "main" { print $3 }' | sort -u
}

# non_free FILE:NUMBER: that entry as it is (mirror, keyring, options) with non-free components. The
# number is a line's in a .list, a stanza's in a .sources file.
non_free() {
    local from=${1%:*} number=${1##*:} components="non-free non-free-firmware"
    if [[ $from == *.sources ]]; then
        awk -v RS= -v number="$number" 'NR == number' "$from" |
            sed -E "s/^Components:.*/Components: $components/I; s/^Types:.*/Types: deb/I" \
                >"$apt/sources.list.d/$number.sources"
    else
        sed -nE "${number}s/^(deb +(\[[^]]*\] +)?[^ ]+ +[^ ]+) .*/\1 $components/p" "$from" \
            >"$apt/sources.list.d/$number.list"
    fi
}

configure() {
    mkdir -p "$apt"/{sources.list.d,state/lists/partial,cache/archives/partial}
    cat >"$apt/conf" <<END
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$apt/sources.list.d";
Dir::State "$apt/state";
Dir::Cache "$apt/cache";
APT::Sandbox::User "";
Acquire::Retries "2";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
END
}

download() {
    timeout 180 apt-get -q -c "$apt/conf" update && cd "$apt" &&
        timeout 180 apt-get -q -c "$apt/conf" download "${packages[@]}"
}

# unpack PACKAGE LIBRARY: lays LIBRARY.so.1 down.
unpack() {
    local real
    dpkg-deb -x "$apt/$1"_*.deb "$apt/$1"
    real=$(find "$apt/$1" -name "$2.so.*.*" -type f -print -quit)
    [[ -n $real ]] || { echo "no $2 in $(basename "$apt/$1"_*.deb)" >&2; exit 1; }
    mv "$real" "$folder/$2.so.1"
    echo "$(basename "$real") from $(basename "$apt/$1"_*.deb)"
}

[[ ! -e $folder/complete ]] || { echo "they are there already"; exit; }
rm -rf "$folder"
mkdir -p "$folder"
# shellcheck source=/dev/null
. /etc/os-release
command -v apt-get >/dev/null && [[ ${ID:-} == debian ]] ||
    skipped "they are taken from Debian's packages, and this is ${PRETTY_NAME:-another system}"
configure
entries=$(sources)
[[ -n $entries ]] || skipped "apt has no source for ${VERSION_CODENAME:-this release}"
for entry in $entries; do
    non_free "$entry"
done
(download) >"$folder/log" 2>&1 || skipped "apt could not download ${packages[*]}"
unpack libcuda1 libcuda
unpack libnvidia-ml1 libnvidia-ml
rm -rf "$apt" "$folder/log"
touch "$folder/complete"
