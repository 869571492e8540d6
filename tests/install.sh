#!/bin/sh
# install.sh CMAKE BUILD PREFIX: installs a build for the tests on a cluster. Their jobs run as an
# ordinary user, who must be able to read it.
set -eu
umask 022
cmake=$1 build=$2 prefix=$3
user=${AUTO_GPUS_TEST_USER:-nobody}

rm -rf "$prefix"
# The build's own folder is ours to open, as `mktemp -d` makes it for one user alone; those above are not.
chmod a+rx "$build"
"$cmake" --install "$build" --prefix "$prefix"

[ "$(id -u)" -eq 0 ] || exit 0
folder=$prefix
while [ "$folder" != / ]; do
    if ! (cd / && setpriv --reuid "$user" --clear-groups test -x "$folder"); then
        closed=$folder
    fi
    folder=$(dirname "$folder")
done
if [ -n "${closed:-}" ]; then
    echo "install: $user, whom the jobs run as, cannot enter $closed: chmod o+x it, or build elsewhere" >&2
    exit 1
fi
