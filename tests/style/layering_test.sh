#!/bin/bash
# Whether layering.sh sees what it must see: one small tree for each row.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0

# layering FILE TEXT: sets `found` and `status` for a tree that has this one file.
layering() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree/spank" "$tree/src/base" "$(dirname "$tree/$1")"
    printf '%b\n' "$2" >"$tree/$1"
    found=$("$here/layering.sh" "$tree" 2>&1)
    status=$?
}

# refused FILE TEXT EXPECTED: an offence, in that line or of the whole file, whose message has EXPECTED in it.
refused() {
    layering "$1" "\n$2"
    [[ $status == 1 && $found == "$1:"[12]": "*"$3"* ]] || wrong "$1" "$2" "an offence with '$3'"
}

accepted() {
    layering "$1" "\n$2"
    [[ $status == 0 && -z $found ]] || wrong "$1" "$2" "no offence"
}

wrong() {
    printf '%s: %s\n  expected %s, got status %s: %s\n' "$1" "$2" "$3" "$status" "$found"
    failed=1
}

refused src/base/a.cpp '#include "src/core/x.hpp"' 'src/base may include src/base only'
refused src/base/a.hpp '#  include "spank/x.hpp"' 'src/base may include src/base only'
refused src/core/a.cpp '#include "src/probe/x.hpp"' 'src/core may include src/base src/core only'
refused src/core/a.hpp '#include "src/cli/x.hpp"' 'src/core may include'
refused src/probe/a.cpp '#include "src/cli/x.hpp"' 'src/probe may include'
refused src/cli/a.cpp '#include "spank/x.hpp"' 'src/cli may include'
refused spank/a.cpp '#include "src/probe/x.hpp"' 'spank may include src/base src/core spank only'
refused spank/a.hpp.in '#include "src/cli/x.hpp"' 'spank may include'
refused src/core/a.cpp '#include "x.hpp"' 'write own headers from the root'
refused src/core/a.cpp '#include "tests/unit/x.hpp"' 'write own headers from the root'
refused src/core/a.cpp '#include HEADER' 'includes by a macro'
refused src/other/a.cpp '#include <map>' 'no layer'
refused spank/a.cpp '#include <slurm/spank.h>' 'allowed in spank/slurm.hpp'
refused src/core/a.cpp '#include <slurm/slurm.h>' 'allowed in spank/slurm.hpp'
refused spank/a.cpp '#include <dlfcn.h>' 'allowed in src/probe/ spank/installation.cpp'
refused src/base/a.cpp '#include <dlfcn.h>' 'allowed in src/probe/'
refused src/probe/a.cpp '#include <cuda.h>' 'no file'
refused src/probe/a.cpp '#include <nvml.h>' 'no file'
refused spank/a.cpp '#include <CLI/CLI.hpp>' 'allowed in src/cli/'
refused src/core/a.cpp '#include <nlohmann/json.hpp>' 'allowed in src/cli/'
refused src/core/a.cpp '#include <iostream>' 'never log'
refused spank/installation.cpp 'auto* p = ::dlopen(name, 2);' 'loads a library'
refused src/cli/a.cpp '    dlsym (library, "x")' 'loads a library'
refused src/base/a.cpp 'f(std::getenv("HOME"));' 'touches the environment'
refused src/base/a.cpp 'for (char** e = environ; *e; ++e) {}' 'touches the environment'
refused src/core/a.cpp '::setenv("A", "b", 1);' 'touches the environment'
refused src/core/a.cpp 'std::cout << 1;' 'prints'
refused src/core/a.cpp 'std::cerr << 1;' 'prints'
refused src/core/a.cpp 'std::printf("x");' 'prints'
refused src/base/a.cpp 'std::fprintf(out, "x");' 'prints'
refused src/base/a.cpp 'set(stderr);' 'prints'
refused src/base/a.cpp 'perror("x");' 'prints'
refused src/base/a.cpp 'if (x) exit(1);' 'ends the process'
refused src/base/a.cpp '::_exit(1);' 'ends the process'
refused src/core/a.cpp 'std::abort();' 'ends the process'
refused src/core/a.cpp '/* a */ std::abort(); // b' 'ends the process'
refused src/core/a.cpp "separator('\"'); abort();" 'ends the process'
refused src/core/a.cpp "wait(1'000); abort();" 'ends the process'
refused src/core/a.cpp 'text("\\\\"); abort();' 'ends the process'
refused src/core/a.cpp 'text(R"x(")" abort()x"); abort();' 'ends the process'

accepted src/base/a.cpp '#include "src/base/x.hpp"\n#include <cstdio>'
accepted src/core/a.cpp '#include "src/base/x.hpp"\n#include "src/core/x.hpp"'
accepted src/probe/a.cpp '#include "src/core/x.hpp"\n#include <dlfcn.h>\nvoid* p = ::dlopen(n, 2);'
accepted src/cli/a.cpp '#include "src/probe/x.hpp"\n#include <CLI/CLI.hpp>\nstd::cout << getenv("A"); exit(0);'
accepted spank/slurm.hpp '#include <slurm/spank.h>'
accepted spank/a.cpp '#include "spank/slurm.hpp"\n#include "src/core/x.hpp"\n::_exit(1); std::getenv("A");'
accepted spank/installation.cpp '#include <dlfcn.h>\n::dladdr(here, &where);'
accepted src/core/a.cpp 'std::snprintf(text, size, "%d", 1);'
accepted src/core/a.cpp '// exit(1), like getenv("A"), is not for us'
accepted src/core/a.cpp '/* as\n abort()\n does */ f();'
accepted src/core/a.cpp 'say("call exit(1) or environ "); verdict.exit(1); on_exit(2); exit_code(3);'
accepted src/core/a.cpp 'text(R"(\n abort(); " \n)"); f();'

((failed)) || echo "layering.sh: all rows as expected"
exit "$failed"
