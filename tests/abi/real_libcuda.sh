#!/bin/bash
# real_libcuda.sh FILE: lays NVIDIA's libcuda down as FILE. It comes from Debian's package libcuda1 (non-free),
# downloaded from this machine's own mirror by a private configuration of apt, unpacked and never installed.
# Status 77, with the reason, when it cannot be had.
set -euo pipefail
file=$1
folder=$(dirname "$file")
apt=$folder/apt

skipped() {
    printf 'SKIPPED: NVIDIA'\''s libcuda was not compared with: %s\n' "$1"
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
        timeout 180 apt-get -q -c "$apt/conf" download libcuda1
}

[[ ! -e $file ]] || { echo "$file is there already"; exit; }
rm -rf "$folder"
mkdir -p "$folder"
# shellcheck source=/dev/null
. /etc/os-release
command -v apt-get >/dev/null && [[ ${ID:-} == debian ]] ||
    skipped "it is taken from Debian's packages, and this is ${PRETTY_NAME:-another system}"
configure
entries=$(sources)
[[ -n $entries ]] || skipped "apt has no source for ${VERSION_CODENAME:-this release}"
for entry in $entries; do
    non_free "$entry"
done
(download) >"$folder/log" 2>&1 || skipped "apt could not download the package libcuda1"

dpkg-deb -x "$apt"/libcuda1_*.deb "$apt/unpacked"
real=$(find "$apt/unpacked" -name 'libcuda.so.*.*' -type f -print -quit)
[[ -n $real ]] || { echo "no libcuda in $(ls "$apt"/libcuda1_*.deb)" >&2; exit 1; }
mv "$real" "$file"
echo "$(basename "$real") from $(basename "$apt"/libcuda1_*.deb)"
rm -rf "$apt" "$folder/log"
