#!/bin/bash
# Installs what building and testing need on Debian 12. Does nothing where all of it is there. Starts
# no service.
set -euo pipefail

building=(g++ cmake ninja-build libslurm-dev libcli11-dev)
checking=(pkg-config check bats binutils clang clang-tidy clang-format)
cluster=(slurmctld slurmd slurm-client munge procps util-linux mount)
packages=("${building[@]}" "${checking[@]}" "${cluster[@]}")

policy=/usr/sbin/policy-rc.d
kept_policy=$policy.before-auto-gpus

die() {
    printf 'setup: %s\n' "$*" >&2
    exit 1
}

# missing: those of the packages that are not installed.
missing() {
    local package
    for package in "${packages[@]}"; do
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
            echo "$package"
    done
}

# Debian starts a package's services when it installs it, unless this file forbids it.
forbid_services() {
    if [[ -e $policy ]]; then
        "$policy" munge start >/dev/null 2>&1 || (($? != 101)) || return 0
        mv "$policy" "$kept_policy"
    fi
    trap allow_services EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
}

allow_services() {
    rm -f "$policy"
    [[ ! -e $kept_policy ]] || mv "$kept_policy" "$policy"
}

# apt ARGUMENT...: its output is shown only when it fails.
apt() {
    local log
    log=$(DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 "$@" 2>&1 </dev/null) &&
        return
    tail -n 20 <<<"$log" >&2
    return 1
}

install_packages() {
    # Lists that are there may still be good; fresh ones cost time and a network.
    apt install --no-install-recommends "$@" 2>/dev/null && return
    apt update || die "apt-get update failed: see to /etc/apt and the network, then run this again"
    apt install --no-install-recommends "$@" ||
        die "apt-get could not install $*: install them by hand, then run this again"
}

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
    die "this is not Debian: install a C++17 compiler, cmake, pkg-config, check, bats, CLI11, Slurm" \
        "with its headers and daemons, and munge; clang with clang-tidy and clang-format 14 are for the style tests"
mapfile -t wanted < <(missing)
((${#wanted[@]} > 0)) || exit 0
((EUID == 0)) || die "only root can install ${wanted[*]}: run this as root, or apt-get install them"
echo "setup: installing ${wanted[*]}"
forbid_services
install_packages "${wanted[@]}"
