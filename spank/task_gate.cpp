#include "spank/task_gate.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "spank/installation.hpp"
#include "src/base/io.hpp"
#include "src/base/text.hpp"

namespace auto_gpus {
namespace {

constexpr milliseconds kSayWithin{2000};
constexpr int kSignalStatus = 128;  // as a shell says it: 128 and the signal

std::string node_name(const Environment& environment)
{
    return environment.get("SLURMD_NODENAME").value_or("this node");
}

Need need_of(const Request& request, const TokenList& list, Origin origin)
{
    const std::size_t length = list.tokens.size();
    if (request.kind == Request::Kind::all) {
        return {length, length};
    }
    if (origin == Origin::site_default) {
        return {std::min(request.min, length), request.max};
    }
    return {request.min, request.max};
}

bool means_no_gpus(Reason reason)
{
    return reason == Reason::not_allocated || reason == Reason::empty_list;
}

Refusal internal(std::string cause) { return {Reason::internal, std::move(cause), "report this"}; }

}  // namespace

void say_to_task(std::string_view text) noexcept
{
    (void)write_until(STDERR_FILENO, text, Deadline::after(kSayWithin));
}

TaskGate::TaskGate(TaskView task, PluginState& state)
    : task_(task),
      state_(state),
      environment_(task.environment()),
      node_(node_name(environment_))
{}

void TaskGate::say(const std::string& text) const
{
    say_to_task(text);
    for (const std::string_view line : split(text, '\n')) {
        if (!line.empty()) {
            slurm_info("%s", std::string(line).c_str());  // info goes to slurmd's log only
        }
    }
}

bool TaskGate::is_left_alone() const
{
    const auto& text = text_of(state_.options, Option::request);
    if (task_.step_id() == slurm::kExternStep) {
        return true;
    }
    if (!text) {
        return !state_.site.default_request.active();
    }
    const auto request = parse_request(*text);
    return request && !request.value().active();
}

Origin TaskGate::origin() const
{
    if (!text_of(state_.options, Option::request)) {
        return Origin::site_default;
    }
    return environment_.get(kOriginVariable) == kOriginInherited ? Origin::inherited
                                                            : Origin::explicit_;
}

std::optional<int> TaskGate::pass()
{
    hide_option_variables();
    if (is_left_alone()) {
        return std::nullopt;
    }
    if (!state_.site.problems.empty()) {
        return refuse(state_.site.problems.front());
    }
    auto settings = resolve(state_.options, state_.site);
    if (!settings) {
        return refuse(settings.error());
    }
    settings_ = std::move(settings).value();
    settings_.origin = origin();
    const auto value = environment_.get(kVisibleDevices);
    auto list = value ? parse_token_list(*value)
                      : Refusal{Reason::not_allocated,
                                std::string(kVisibleDevices) +
                                    " is not set: no GPU was allocated to this step",
                                info(Reason::not_allocated).remedy};
    if (list) {
        return probe(list.value());
    }
    const bool asked_here = settings_.origin == Origin::explicit_;
    if (means_no_gpus(list.error().reason) && !asked_here) {
        return std::nullopt;
    }
    return refuse(list.error());
}

std::optional<int> TaskGate::refuse(const Refusal& refusal)
{
    if (!state_.task_asked) {
        say(refusal_text(node_, {refusal.reason,
                                 "warning: the site's default of --auto-gpus was not applied: " +
                                     refusal.cause,
                                 refusal.remedy}));
        return std::nullopt;
    }
    say(refusal_text(node_, refusal));
    return exit_code(refusal.reason, state_.site.short_code);
}

SessionOrder TaskGate::order(const TokenList& list) const
{
    SessionOrder order;
    order.program = state_.site.program.empty() ? installed_program() : state_.site.program;
    order.environment = environment_;
    order.list = list;
    order.need = need_of(settings_.request, list, settings_.origin);
    order.plan.timeout = settings_.timeout;
    order.plan.retry = state_.site.retry;
    order.plan.min_free = settings_.min_free;
    order.plan.libcuda = state_.site.libcuda;
    return order;
}

std::optional<int> TaskGate::probe(const TokenList& list)
{
    SessionOrder session_order = order(list);
    if (session_order.need.min > list.tokens.size()) {
        return refuse(too_short(settings_, list));
    }
    if (!task_.runs_as_user()) {
        return refuse(internal("the task is not run by the job's user"));
    }
    auto signals = SignalTrap::set({SIGTERM, SIGINT, SIGHUP, SIGQUIT});
    if (!signals) {
        return refuse(internal(signals.error().cause));
    }
    const TimePoint started = Clock::now();
    Session session(std::move(session_order), signals.value());
    const SessionResult result = session.run();
    const Report report{node_, list, settings_, session.watch(), Clock::now() - started};
    const std::optional<int> status = settle(result, report);
    if (const int signal = signals.value().take()) {
        return kSignalStatus + signal;
    }
    return status;
}

std::optional<int> TaskGate::settle(const SessionResult& result, const Report& report)
{
    if (const auto* taken = std::get_if<Taken>(&result)) {
        return narrow(taken->positions, report);
    }
    if (const auto* found = std::get_if<Short>(&result)) {
        return fall_short(*found, report);
    }
    if (const auto* interrupted = std::get_if<Interrupted>(&result)) {
        return kSignalStatus + interrupted->signal;
    }
    const Error& error = std::get<Broken>(result).error;
    return refuse({Reason::probe_failed, error.cause, error.remedy});
}

std::optional<int> TaskGate::narrow(const std::vector<std::size_t>& chosen, const Report& report)
{
    const std::string before = environment_.get(kVisibleDevices).value_or("");
    const std::string uuids = uuids_text(report.watch, chosen);
    const bool as_it_was =
        settings_.request.kind == Request::Kind::all && settings_.emit == Emit::keep;
    const std::string kept = as_it_was ? before : joined(report.list, chosen);
    const std::string& value = settings_.emit == Emit::uuid ? uuids : kept;
    // Slurm sets this one too, for OpenCL; where it follows the list it goes on doing so.
    const bool ordinals_follow = environment_.get("GPU_DEVICE_ORDINAL") == before;
    const bool done = task_.set(kVisibleDevices, value) &&
                      (!ordinals_follow || task_.set("GPU_DEVICE_ORDINAL", value)) &&
                      task_.set("AUTO_GPUS_COUNT", std::to_string(chosen.size())) &&
                      task_.set("AUTO_GPUS_UUIDS", uuids) &&
                      task_.set("AUTO_GPUS_REJECTED", rejected_text(report, chosen));
    if (!done) {
        return refuse(internal("Slurm did not take the variables for the task"));
    }
    say(success_text(report, chosen));
    return std::nullopt;
}

std::optional<int> TaskGate::fall_short(const Short& found, const Report& report)
{
    const std::vector<std::size_t> conflict =
        found.conflict ? found.positions : std::vector<std::size_t>{};
    const bool interactive = task_.step_id() == slurm::kInteractiveStep;
    say(short_text(report, conflict, interactive));
    if (!interactive) {
        return short_exit_code(report.watch, state_.site.short_code);
    }
    // The shell of salloc opens with what works, not at all would give the allocation back.
    std::vector<std::size_t> working;
    for (std::size_t i = 0; i < report.watch.tokens.size(); ++i) {
        if (report.watch.tokens[i].usable() && conflict.empty()) {
            working.push_back(i);
        }
    }
    return working.empty() ? std::nullopt : narrow(working, report);
}

void TaskGate::hide_option_variables()
{
    for (const std::string& name : environment_.names_with_prefix(kStepVariables)) {
        task_.unset(name);
    }
    task_.unset(kOriginVariable);
}

}  // namespace auto_gpus
