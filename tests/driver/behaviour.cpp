// SPDX-License-Identifier: Apache-2.0
#include "behaviour.hpp"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <limits>

#include "text.hpp"

namespace fake_cuda {
namespace {

struct StageName {
    const char* name;
    Stage stage;
};

constexpr StageName kStages[] = {
    {"init", Stage::init},       {"enumerate", Stage::enumerate},
    {"ctx", Stage::context},     {"attributes", Stage::attributes},
    {"alloc", Stage::alloc},     {"meminfo", Stage::meminfo},
    {"set", Stage::set},         {"module", Stage::module},
    {"launch", Stage::launch},   {"sync", Stage::sync},
    {"copy", Stage::copy},       {"free", Stage::free},
    {"destroy", Stage::destroy},
};

struct SignalName {
    const char* name;
    int number;
};

constexpr SignalName kSignals[] = {
    {"SIGSEGV", SIGSEGV}, {"SIGKILL", SIGKILL}, {"SIGBUS", SIGBUS},   {"SIGABRT", SIGABRT},
    {"SIGILL", SIGILL},   {"SIGFPE", SIGFPE},   {"SIGTERM", SIGTERM}, {"SIGSYS", SIGSYS},
};

constexpr char kStageWords[] =
    "init enumerate attributes ctx meminfo alloc set module launch sync copy free destroy";
constexpr char kBehaviourWords[] =
    "ok busy46 proh[:E] mismatch[:OFFSET] gone STAGE:E slow:T hangK hangT spin hangD@STAGE:FOLDER "
    "die:SIG exit:CODE transE:K transE_for:T noise fork:T";

/// name[:argument][@stage][*tries], the last three in any order but tries at the end.
struct Part {
    std::string name;
    std::optional<std::string> argument;
    std::optional<Stage> stage;
    std::uint64_t tries = 0;
    std::string text;
};

std::optional<Stage> find_stage(std::string_view name)
{
    const auto* const found = std::find_if(std::begin(kStages), std::end(kStages),
                                           [&](const StageName& s) { return name == s.name; });
    return found == std::end(kStages) ? std::nullopt : std::optional(found->stage);
}

std::optional<int> parse_in(std::string_view text, int low, int high)
{
    const auto number = parse_number(text);
    if (!number || *number < static_cast<std::uint64_t>(low) ||
        *number > static_cast<std::uint64_t>(high)) {
        return std::nullopt;
    }
    return static_cast<int>(*number);
}

std::optional<int> parse_signal(std::string_view text)
{
    const auto* const found = std::find_if(std::begin(kSignals), std::end(kSignals),
                                           [&](const SignalName& s) { return text == s.name; });
    return found == std::end(kSignals) ? parse_in(text, 1, 64) : found->number;
}

std::string wrong(const Part& part, std::string_view allowed)
{
    return "behaviour '" + part.text + "': " + std::string(allowed);
}

/// Cuts one part at * : and @; returns what is wrong with it, or "".
std::string cut(std::string_view text, Part& part)
{
    part.text = text;
    const std::size_t star = text.rfind('*');
    if (star != std::string_view::npos) {
        const auto tries = parse_number(text.substr(star + 1));
        if (!tries || *tries == 0) {
            return wrong(part, "after * comes a number of processes, 1 or more");
        }
        part.tries = *tries;
        text = text.substr(0, star);
    }
    std::size_t at = std::min(text.find_first_of(":@"), text.size());
    part.name = text.substr(0, at);
    while (at < text.size()) {
        const bool is_stage = text[at] == '@';
        const std::size_t end = std::min(text.find(is_stage ? ':' : '@', at + 1), text.size());
        const std::string_view value = text.substr(at + 1, end - at - 1);
        if (is_stage ? part.stage.has_value() : part.argument.has_value()) {
            return wrong(part, "at most one :argument and one @stage");
        }
        if (!is_stage) {
            part.argument = std::string(value);
        } else if (part.stage = find_stage(value); !part.stage) {
            return wrong(part, std::string("after @ comes one of ") + kStageWords);
        }
        at = end;
    }
    return {};
}

Fault fault_of(const Part& part, Act act, Stage default_stage)
{
    Fault fault;
    fault.act = act;
    fault.stage = part.stage.value_or(default_stage);
    fault.tries = part.tries;
    fault.text = part.text;
    return fault;
}

std::string add_code(const Part& part, Stage stage, Behaviour& into)
{
    Fault fault = fault_of(part, Act::fail, stage);
    const auto code = parse_in(part.argument.value_or(""), 1, 9999);
    if (!code || part.stage) {
        return wrong(part, "a stage's own name takes a CUresult: " + part.name + ":214");
    }
    fault.number = *code;
    into.faults.push_back(std::move(fault));
    return {};
}

std::string add_mode(const Part& part, Mode mode, Behaviour& into)
{
    const bool takes_code = mode == Mode::prohibited;
    const auto code = parse_in(part.argument.value_or("46"), 1, 9999);
    if (part.stage || !code || (part.argument && !takes_code)) {
        return wrong(part, "write busy46, proh or proh:E");
    }
    Fault fault = fault_of(part, Act::fail, Stage::context);
    fault.number = *code;
    into.mode = mode;
    into.faults.push_back(std::move(fault));
    return {};
}

std::string add_mismatch(const Part& part, Behaviour& into)
{
    const auto offset = parse_number(part.argument.value_or("0"));
    if (part.stage || part.tries != 0 || !offset) {
        return wrong(part, "write mismatch or mismatch:OFFSET, in bytes");
    }
    into.mismatch = Mismatch{part.argument ? std::optional<std::size_t>(*offset) : std::nullopt};
    return {};
}

/// transE:K and transE_for:T.
std::string add_transient(const Part& part, Behaviour& into)
{
    constexpr std::string_view kSuffix = "_for";
    std::string_view code_text = std::string_view(part.name).substr(5);
    const bool for_a_time = code_text.size() > kSuffix.size() &&
                            code_text.substr(code_text.size() - kSuffix.size()) == kSuffix;
    if (for_a_time) {
        code_text.remove_suffix(kSuffix.size());
    }
    const auto code = parse_in(code_text, 1, 9999);
    Fault fault = fault_of(part, Act::fail, code == 802 ? Stage::init : Stage::context);
    const auto tries = parse_number(part.argument.value_or(""));
    const auto window = parse_time(part.argument.value_or(""));
    const bool argument_ok = for_a_time ? window && window->count() > 0 : tries && *tries > 0;
    if (!code || part.tries != 0 || !argument_ok) {
        return wrong(part, "write trans46:2, trans802:1 or trans802_for:3s");
    }
    fault.number = *code;
    fault.tries = for_a_time ? 0 : *tries;
    fault.window = for_a_time ? *window : std::chrono::nanoseconds(0);
    into.faults.push_back(std::move(fault));
    return {};
}

struct ActName {
    const char* name;
    Act act;
    Stage stage;  ///< where nothing is said
    const char* usage;
};

constexpr ActName kActs[] = {
    {"slow", Act::slow, Stage::context, "a time: slow:400ms, slow:5s@init"},
    {"hangK", Act::hang, Stage::init, "no argument: hangK, hangK@sync"},
    {"hangT", Act::hang_term, Stage::init, "no argument: hangT, hangT@sync"},
    {"spin", Act::spin, Stage::init, "no argument: spin, spin@sync"},
    {"hangD", Act::hang_frozen, Stage::init, "a folder: hangD@init:/frozen"},
    {"die", Act::die, Stage::context, "a signal: die:SIGSEGV, die:SIGKILL@init, die:11"},
    {"exit", Act::exit, Stage::context, "an exit status from 0 to 255: exit:3@ctx"},
    {"noise", Act::noise, Stage::init, "no argument: noise, noise@ctx"},
    {"fork", Act::fork, Stage::init, "a time: fork:5s, fork:5s@ctx"},
};

/// Reads the argument that `fault.act` takes; false when it is not one.
bool read_argument(const std::optional<std::string>& argument, Fault& fault)
{
    const std::string text = argument.value_or("");
    std::optional<int> number;
    switch (fault.act) {
        case Act::slow:
        case Act::fork: {
            const auto time = parse_time(text);
            fault.time = time.value_or(std::chrono::nanoseconds(0));
            return time.has_value();
        }
        case Act::hang_frozen:
            fault.path = text;
            return starts_with(text, "/");
        case Act::die:
        case Act::exit:
            number = fault.act == Act::die ? parse_signal(text) : parse_in(text, 0, 255);
            fault.number = number.value_or(0);
            return number.has_value();
        default:
            return !argument;
    }
}

std::string add_part(const Part& part, Behaviour& into)
{
    if (part.name == "busy46" || part.name == "proh") {
        const bool busy = part.name == "busy46";
        return add_mode(part, busy ? Mode::exclusive_process : Mode::prohibited, into);
    }
    if (part.name == "mismatch") {
        return add_mismatch(part, into);
    }
    if (part.name == "ok" || part.name == "gone") {
        into.gone = into.gone || part.name == "gone";
        return part.text == part.name ? "" : wrong(part, "takes no argument, stage or tries");
    }
    if (const auto stage = find_stage(part.name)) {
        return add_code(part, *stage, into);
    }
    if (starts_with(part.name, "trans")) {
        return add_transient(part, into);
    }
    const auto* const found = std::find_if(std::begin(kActs), std::end(kActs),
                                           [&](const ActName& a) { return part.name == a.name; });
    if (found == std::end(kActs)) {
        return wrong(part, std::string("allowed are ") + kBehaviourWords);
    }
    Fault fault = fault_of(part, found->act, found->stage);
    if (!read_argument(part.argument, fault)) {
        return wrong(part, std::string("takes ") + found->usage);
    }
    into.faults.push_back(std::move(fault));
    return {};
}

}  // namespace

std::string add_behaviours(std::string_view list, Behaviour& into)
{
    for (const std::string& text : split(list, '+')) {
        Part part;
        std::string problem = cut(text, part);
        if (problem.empty()) {
            problem = add_part(part, into);
        }
        if (!problem.empty()) {
            return problem;
        }
    }
    return {};
}

}  // namespace fake_cuda
