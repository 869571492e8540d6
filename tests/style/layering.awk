# What a file may include and call, by the folder that it is in. Prints each offence as
# FILE:LINE: what, and what is allowed; status 1 when there was one. Paths begin with src/ or spank/.

BEGIN {
    allowed["src/base"] = "src/base"
    allowed["src/core"] = "src/base src/core"
    allowed["src/probe"] = "src/base src/core src/probe"
    allowed["src/cli"] = "src/base src/core src/probe src/cli"
    allowed["spank"] = "src/base src/core spank"

    # Headers of others: where they may be included.
    only["slurm/"] = "spank/slurm.hpp"
    only["dlfcn.h"] = "src/probe/ spank/installation.cpp"
    only["CLI/"] = "src/cli/"
    only["nlohmann/"] = "src/cli/"
    only["cuda"] = only["nvml"] = only["nv"] = "no file: the driver's slice is declared in src/probe"

    word_edge = "[^A-Za-z0-9_.>]"
    loads = "(dlopen|dlmopen|dlsym|dlvsym|dlclose)[ ]*[(]"
    stops = "(exit|_exit|_Exit|quick_exit|at_quick_exit|atexit|abort|terminate)[ ]*[(]"
    prints = "(printf|fprintf|vprintf|vfprintf|dprintf|vdprintf|puts|fputs|putchar|putc|fputc|perror|" \
             "syslog|vsyslog|fwrite)[ ]*[(]"
    streams = "(cout|cerr|clog|stdout|stderr|wcout|wcerr)" word_edge
    environment = "(getenv|secure_getenv|setenv|unsetenv|putenv|clearenv)[ ]*[(]|environ" word_edge
}

function offence(what) {
    print FILENAME ":" FNR ": " what
    offences++
}

function starts_with(text, begin) { return substr(text, 1, length(begin)) == begin }

# folder(PATH): the layer that a path belongs to; "" for none.
function folder(path) {
    for (layer in allowed) {
        if (starts_with(path, layer "/")) {
            return layer
        }
    }
    return ""
}

# is_among(PATH, PLACES): PATH is one of the files, or in one of the folders, that PLACES lists.
function is_among(path, places,   place, count, i) {
    count = split(places, place, " ")
    for (i = 1; i <= count; i++) {
        if (path == place[i] || (place[i] ~ /\/$/ && starts_with(path, place[i]))) {
            return 1
        }
    }
    return 0
}

function check_own(header,   target, place, count, i) {
    target = folder(header)
    if (target == "") {
        offence("includes \"" header "\": write own headers from the root, \"src/...\" or \"spank/...\"")
        return
    }
    count = split(allowed[here], place, " ")
    for (i = 1; i <= count; i++) {
        if (place[i] == target) {
            return
        }
    }
    offence("includes \"" header "\": " here " may include " allowed[here] " only")
}

function check_others(header,   begin) {
    for (begin in only) {
        if (starts_with(header, begin) && !is_among(FILENAME, only[begin])) {
            offence("includes <" header ">: allowed in " only[begin])
            return
        }
    }
    if ((here == "src/base" || here == "src/core") && header ~ /^(iostream|syslog\.h)$/) {
        offence("includes <" header ">: src/base and src/core report by what they return, and never log")
    }
}

# code(LINE): the line without comments and without the insides of literals. `in_comment` and
# `raw_end` carry over to the next line.
function code(line,   out, at, two) {
    out = ""
    while (line != "") {
        if (in_comment || raw_end != "") {
            at = index(line, in_comment ? "*/" : raw_end)
            if (at == 0) {
                return out
            }
            line = substr(line, at + (in_comment ? 2 : length(raw_end)))
            in_comment = 0
            raw_end = ""
            continue
        }
        two = substr(line, 1, 2)
        if (two == "//") {
            return out
        }
        if (two == "/*") {
            in_comment = 1
            line = substr(line, 3)
        } else if (match(line, /^R"[^ ()\\]*[(]/)) {
            raw_end = ")" substr(line, 3, RLENGTH - 3) "\""
            line = substr(line, RLENGTH + 1)
        } else if (match(line, /^"([^"\\]|\\.)*"/) || match(line, /^'([^'\\]|\\.)+'/)) {
            out = out "\"\""
            line = substr(line, RLENGTH + 1)
        } else if (match(line, /^[A-Za-z0-9_]+('[0-9A-Fa-f]+)*/)) {
            out = out substr(line, 1, RLENGTH)
            line = substr(line, RLENGTH + 1)
            if (line ~ /^"/ && out ~ /R$/) {
                line = "R" line
                out = substr(out, 1, length(out) - 1)
            }
        } else {
            out = out substr(line, 1, 1)
            line = substr(line, 2)
        }
    }
    return out
}

# calls(TEXT, PATTERN): a call or a name that is not a member and not a part of another name.
function calls(text, pattern) {
    return (" " text " ") ~ (word_edge pattern)
}

function check_words(text) {
    if (calls(text, loads) && here != "src/probe") {
        offence("loads a library: allowed in src/probe")
    }
    if (here != "src/base" && here != "src/core") {
        return
    }
    if (calls(text, environment)) {
        offence("touches the environment: src/base and src/core take values from their callers")
    }
    if (calls(text, prints) || calls(text, streams)) {
        offence("prints: src/base and src/core report by what they return, and never log")
    }
    if (calls(text, stops)) {
        offence("ends the process: src/base and src/core report by what they return")
    }
}

FNR == 1 {
    here = folder(FILENAME)
    in_comment = 0
    raw_end = ""
    if (here == "") {
        offence("is in no layer: allowed are the folders src/base, src/core, src/probe, src/cli, spank")
    }
}

/^[ \t]*#[ \t]*include/ && !in_comment {
    if (match($0, /"[^"]+"/)) {
        check_own(substr($0, RSTART + 1, RLENGTH - 2))
    } else if (match($0, /<[^>]+>/)) {
        check_others(substr($0, RSTART + 1, RLENGTH - 2))
    } else {
        offence("includes by a macro: allowed are \"...\" and <...>")
    }
    next
}

{ check_words(code($0)) }

END { exit offences > 0 }
