#include "spank/task_gate.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "spank/installation.hpp"
#include "src/base/io.hpp"
#include "src/base/text.hpp"
#include "src/core/node_survey.hpp"

namespace auto_gpus {
namespace {

constexpr milliseconds kSayWithin{2000};
constexpr char kOrdinals[] = "GPU_DEVICE_ORDINAL";
constexpr char kCount[] = "AUTO_GPUS_COUNT";
constexpr char kUuids[] = "AUTO_GPUS_UUIDS";
constexpr char kRejected[] = "AUTO_GPUS_REJECTED";

std::string node_name(const Environment& environment)
{
    return environment.get("SLURMD_NODENAME").value_or("this node");
}

/// The site's default is no reason to fail a step that has fewer GPUs.
Need need_of(const Settings& settings, const TokenList& list)
{
    Need need = need_of(settings.request, list);
    if (settings.origin == Origin::site_default) {
        need.min = std::min(need.min, list.tokens.size());
    }
    return need;
}

bool means_no_gpus(Reason reason)
{
    return reason == Reason::not_allocated || reason == Reason::empty_list;
}

Refusal internal(std::string cause)
{
    return {Reason::internal, std::move(cause), "report this"};
}

}  // namespace

void say_to_task(std::string_view text) noexcept
{
    (void)write_until(STDERR_FILENO, text, Deadline::after(kSayWithin));
}

TaskGate::TaskGate(TaskView task, PluginState& state)
    : task_(task), state_(state), environment_(task.environment()), node_(node_name(environment_))
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

bool TaskGate::is_interactive() const
{
    return task_.step_id() == slurm::kInteractiveStep;
}

Origin TaskGate::origin() const
{
    if (!text_of(state_.options, Option::request)) {
        return Origin::site_default;
    }
    const auto origin = environment_.get(kOriginVariable);
    if (origin == kOriginEnvironment) {
        return Origin::environment;
    }
    return origin == kOriginInherited ? Origin::inherited : Origin::typed;
}

std::optional<int> TaskGate::pass()
{
    hide_option_variables();
    if (is_left_alone()) {
        forget_results();
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
    if (!task_.runs_as_user()) {
        return refuse(internal("the task is not run by the job's user"));
    }
    auto signals = SignalTrap::set({SIGTERM, SIGINT, SIGHUP, SIGQUIT});
    if (!signals) {
        return refuse(internal(signals.error().cause));
    }
    const std::optional<int> status = pass_under(signals.value());
    const int signal = interrupted_by_ != 0 ? interrupted_by_ : signals.value().take();
    return signal != 0 ? kExitSignal + signal : status;
}

std::optional<int> TaskGate::pass_under(SignalTrap& signals)
{
    auto tokens = list(signals);
    if (tokens) {
        return probe(tokens.value(), signals);
    }
    if (interrupted_by_ != 0) {
        return std::nullopt;
    }
    const bool asked_here = settings_.origin == Origin::typed;
    if (means_no_gpus(tokens.error().reason) && !asked_here) {
        forget_results();
        return std::nullopt;
    }
    return refuse(tokens.error());
}

Result<TokenList, Refusal> TaskGate::list(SignalTrap& signals)
{
    if (const auto value = environment_.get(kVisibleDevices)) {
        return parse_token_list(*value);
    }
    if (state_.site.unallocated_means_all && settings_.origin == Origin::typed) {
        return list_of_node(signals);
    }
    return Refusal{Reason::not_allocated,
                   std::string(kVisibleDevices) + " is not set: no GPU was allocated to this step",
                   info(Reason::not_allocated).remedy};
}

/// The site lets a step without an allocation use what the node has.
Result<TokenList, Refusal> TaskGate::list_of_node(SignalTrap& signals)
{
    auto tokens = survey_node(order(TokenList{}), signals, interrupted_by_);
    if (!tokens) {
        return tokens.error();
    }
    const std::size_t count = tokens.value().tokens.size();
    environment_.set(kVisibleDevices, joined(tokens.value()));
    say(warning_text(node_, "no GPU was allocated to this step; the site lets it use all " +
                                std::to_string(count) + " of the node"));
    return tokens;
}

std::optional<int> TaskGate::refuse(const Refusal& refusal)
{
    if (!state_.task_asked) {
        say(warning_text(node_, "the site's default of --auto-gpus was not applied: " +
                                    std::string(name(refusal.reason)) + ": " + refusal.cause));
        return std::nullopt;
    }
    say(refusal_text(node_, refusal));
    if (is_interactive()) {
        say(warning_text(node_, "this shell opens with its GPUs unchecked"));
        return std::nullopt;
    }
    return exit_code(refusal.reason, state_.site.short_code);
}

SessionOrder TaskGate::order(const TokenList& tokens) const
{
    SessionOrder order;
    order.program = state_.site.program.empty() ? installed_program() : state_.site.program;
    order.environment = environment_;
    order.list = tokens;
    order.need = need_of(settings_, tokens);
    order.plan.timeout =
        std::chrono::duration_cast<milliseconds>(started_ + settings_.timeout - Clock::now());
    order.plan.retry = state_.site.retry;
    order.plan.min_free = settings_.min_free;
    order.plan.libcuda = state_.site.libcuda;
    return order;
}

std::optional<int> TaskGate::probe(const TokenList& tokens, SignalTrap& signals)
{
    const Need need = need_of(settings_, tokens);
    if (need.min > tokens.tokens.size()) {
        return refuse(too_short(settings_, tokens));
    }
    Session session(order(tokens), signals);
    const SessionResult result = session.run();
    return settle(result, {node_, tokens, settings_, need, session.watch(), Clock::now() - started_,
                           environment_.get(kMpsPipeDirectory).value_or(""),
                           is_interactive() ? Audience::shell : Audience::task});
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
        interrupted_by_ = interrupted->signal;
        return std::nullopt;
    }
    const Error& error = std::get<Broken>(result).error;
    return refuse({Reason::probe_failed, error.cause, error.remedy});
}

std::optional<int> TaskGate::narrow(const std::vector<std::size_t>& chosen, const Report& report)
{
    if (!set_variables(chosen, report)) {
        undo_variables();
        return refuse(internal("Slurm did not take the variables for the task"));
    }
    say(success_text(report, chosen));
    return std::nullopt;
}

bool TaskGate::set_variables(const std::vector<std::size_t>& chosen, const Report& report)
{
    const std::string before = environment_.get(kVisibleDevices).value_or("");
    const std::string uuids = uuids_text(report.watch, chosen);
    const bool all =
        settings_.request.kind == Request::Kind::all && chosen.size() == report.list.tokens.size();
    const std::string kept = all ? before : joined(report.list, chosen);
    const std::string& value = settings_.emit == Emit::uuid ? uuids : kept;
    // Slurm sets this one too, for OpenCL; where it follows the list it goes on doing so.
    const bool ordinals_follow = environment_.get(kOrdinals) == before;
    return task_.set(kVisibleDevices, value) && (!ordinals_follow || task_.set(kOrdinals, kept)) &&
           task_.set(kCount, std::to_string(chosen.size())) && task_.set(kUuids, uuids) &&
           task_.set(kRejected, rejected_text(report, chosen));
}

/// Nothing half done, for a task that goes on all the same (one that has the site's default).
void TaskGate::undo_variables()
{
    for (const char* name : {kVisibleDevices, kOrdinals, kCount, kUuids, kRejected}) {
        const auto before = environment_.get(name);
        if (!before) {
            task_.unset(name);
        } else if (task_.environment().get(name) != before) {
            (void)task_.set(name, *before);
        }
    }
}

std::optional<int> TaskGate::fall_short(const Short& found, const Report& report)
{
    const int status = short_exit_code(report.watch, state_.site.short_code);
    if (status == kExitOwn && !state_.task_asked) {
        return refuse({Reason::probe_failed, "no GPU could be probed", "see --auto-gpus-verbose"});
    }
    say(short_text(report, found));
    if (report.audience == Audience::task) {
        return status;
    }
    // The shell of salloc opens with what works: not to open would give the allocation back.
    const std::vector<Verdict> verdicts = final_verdicts(report.watch, found);
    std::vector<std::size_t> working;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        if (verdicts[i].usable()) {
            working.push_back(i);
        }
    }
    if (!working.empty()) {
        return narrow(working, report);
    }
    say(warning_text(node_, "no GPU is usable: this shell opens with an empty list"));
    return set_variables({}, report) ? std::nullopt : std::optional<int>(kExitOwn);
}

/// A step within a batch script has the script's variables: they are not about its GPUs.
void TaskGate::forget_results()
{
    for (const char* name : {kCount, kUuids, kRejected}) {
        task_.unset(name);
    }
}

void TaskGate::hide_option_variables()
{
    for (const std::string& name : environment_.names_with_prefix(kStepVariables)) {
        task_.unset(name);
    }
    task_.unset(kOriginVariable);
}

}  // namespace auto_gpus
