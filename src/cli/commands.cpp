#include "src/cli/commands.hpp"

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <string>

#include "src/base/confine.hpp"
#include "src/base/text.hpp"
#include "src/cli/version.hpp"
#include "src/core/message.hpp"
#include "src/core/node_survey.hpp"
#include "src/core/session.hpp"

namespace auto_gpus {
namespace {

struct ProbeOptions {
    std::string request = "all";
    std::string timeout;
    std::string min_free;
    std::string libcuda;
};

std::string node_name(const Environment& environment)
{
    if (const auto node = environment.get("SLURMD_NODENAME")) {
        return *node;
    }
    std::string host(256, '\0');
    if (::gethostname(host.data(), host.size() - 1) != 0) {
        return "this node";
    }
    host.resize(host.find('\0'));
    return host;
}

int refuse(const std::string& node, const Refusal& refusal)
{
    std::cerr << refusal_text(node, refusal);
    return exit_code(refusal.reason, kExitShort);
}

Result<Settings, Refusal> settings_of(const ProbeOptions& options, const Site& site)
{
    OptionTexts texts;
    text_of(texts, Option::request) = options.request;
    text_of(texts, Option::verbose) = "1";
    if (!options.timeout.empty()) {
        text_of(texts, Option::timeout) = options.timeout;
    }
    if (!options.min_free.empty()) {
        text_of(texts, Option::min_free) = options.min_free;
    }
    return resolve(texts, site);
}

SessionOrder order_for(const ProbeOptions& options, const Settings& settings)
{
    SessionOrder order;
    order.program = kOwnProgram;
    order.environment = Environment(environ);
    order.plan.timeout = settings.timeout;
    order.plan.retry = Site{}.retry;
    order.plan.min_free = settings.min_free;
    order.plan.libcuda = options.libcuda;
    return order;
}

/// The list in the environment; without one, what the node has.
Result<TokenList, Refusal> read_list(SessionOrder& order, SignalTrap& signals, int& interrupted)
{
    if (const auto value = order.environment.get(kVisibleDevices)) {
        return parse_token_list(*value);
    }
    auto list = survey_node(order, signals, interrupted);
    if (list) {
        order.environment.set(kVisibleDevices, joined(list.value()));
    }
    return list;
}

int tell(const SessionResult& result, const Report& report)
{
    if (const auto* taken = std::get_if<Taken>(&result)) {
        std::cerr << success_text(report, taken->positions);
        std::cout << joined(report.list, taken->positions) << "\n";
        return 0;
    }
    if (const auto* found = std::get_if<Short>(&result)) {
        std::cerr << short_text(report, *found);
        return short_exit_code(report.watch, kExitShort);
    }
    if (const auto* interrupted = std::get_if<Interrupted>(&result)) {
        return kExitSignal + interrupted->signal;
    }
    const Error& error = std::get<Broken>(result).error;
    return refuse(report.node, {Reason::probe_failed, error.cause, error.remedy});
}

int probe_list(SessionOrder order, const Settings& settings, SignalTrap& signals,
               const std::string& node)
{
    const TokenList list = order.list;
    const std::string mps_pipe = order.environment.get(kMpsPipeDirectory).value_or("");
    const Need need = need_of(settings.request, list);
    if (need.min > list.tokens.size()) {
        return refuse(node, too_short(settings, list));
    }
    order.need = need;
    const TimePoint started = Clock::now();
    Session session(std::move(order), signals);
    const SessionResult result = session.run();
    return tell(result, {node, list, settings, need, session.watch(), Clock::now() - started,
                         mps_pipe, Audience::person});
}

/// What a task would see: the entries of CUDA_VISIBLE_DEVICES tried, and the table printed.
int probe(const ProbeOptions& options)
{
    const std::string node = node_name(Environment(environ));
    const auto settings = settings_of(options, Site{});
    if (!settings) {
        return refuse(node, settings.error());
    }
    if (!settings.value().request.active()) {
        return refuse(
            node, {Reason::bad_option,
                   "--gpus=" + auto_gpus::quoted(options.request) + " asks for nothing to be tried",
                   "use N, MIN-MAX, MIN+ or all"});
    }
    auto signals = SignalTrap::set({SIGTERM, SIGINT, SIGHUP, SIGQUIT});
    if (!signals) {
        return refuse(node, {Reason::internal, signals.error().cause, signals.error().remedy});
    }
    SessionOrder order = order_for(options, settings.value());
    int interrupted = 0;
    auto list = read_list(order, signals.value(), interrupted);
    if (interrupted != 0) {
        return kExitSignal + interrupted;
    }
    if (!list) {
        return refuse(node, list.error());
    }
    order.list = std::move(list).value();
    return probe_list(std::move(order), settings.value(), signals.value(), node);
}

}  // namespace

void report_broken(const char* what) noexcept
{
    std::fprintf(stderr, "auto-gpus: INTERNAL: %s; report this\n", what);
}

int run_command(int argc, char** argv)
{
    CLI::App app("Tries GPUs as a CUDA program would, each in a process of its own.", "auto-gpus");
    app.set_version_flag("--version", kVersion);
    app.require_subcommand(1);
    ProbeOptions options;
    CLI::App* const command = app.add_subcommand(
        "probe", "try the GPUs of CUDA_VISIBLE_DEVICES, print what was found, and the usable list");
    command->add_option("--gpus", options.request, "N, MIN-MAX, MIN+ or all (the default)");
    command->add_option("--timeout", options.timeout, "give up after so many seconds (60)");
    command->add_option("--min-free", options.min_free, "refuse GPUs with less free memory (20G)");
    command->add_option("--libcuda", options.libcuda, "path of the driver library to load");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int status = app.exit(error);
        return status == 0 ? 0 : kExitOption;
    }
    return probe(options);
}

}  // namespace auto_gpus
