#include "src/core/session.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "src/base/text.hpp"

namespace auto_gpus {
namespace {

/// After the deadline the supervisor still ends its probes (SIGTERM, a grace, SIGKILL, a wait) and
/// says what it saw. One that is silent for longer is not working.
constexpr milliseconds kAfterDeadline{750};
constexpr milliseconds kFinish{750};
constexpr milliseconds kFinishBroken{100};
constexpr milliseconds kKillWait{100};
constexpr milliseconds kReapStep{1};

Error broken(std::string cause)
{
    return {Fault::helper, std::move(cause),
            "have the administrator check the installation of auto-gpus on this node"};
}

/// Waits for a child that is about to end.
std::optional<ExitStatus> reap_until(ChildProcess& child, Deadline deadline)
{
    for (;;) {
        const auto status = child.try_reap();
        if (status || deadline.passed()) {
            return status;
        }
        ::poll(nullptr, 0, static_cast<int>(kReapStep.count()));
    }
}

std::string ending_text(const std::optional<ExitStatus>& status)
{
    if (!status) {
        return "does not end";
    }
    if (status->signal != 0) {
        return "was killed by signal " + std::to_string(status->signal);
    }
    return status->unknown ? "ended" : "ended with status " + std::to_string(status->code);
}

}  // namespace

Session::Supervisor::~Supervisor()
{
    if (!process.reaped()) {
        process.signal(SIGKILL);
        (void)reap_until(process, Deadline::after(kKillWait));
    }
}

Session::Session(SessionOrder order, SignalTrap& signals)
    : order_(std::move(order)), signals_(signals), deadline_(Clock::now() + order_.plan.timeout)
{}

Result<Session::Supervisor> Session::start() const
{
    auto commands = make_pipe();
    if (!commands) {
        return commands.error();
    }
    auto verdicts = make_pipe();
    if (!verdicts) {
        return verdicts.error();
    }
    SupervisorPlan plan = order_.plan;
    plan.parent = ::getpid();
    plan.timeout = std::max(milliseconds{0},
                            std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now()));
    Program program;
    program.path = order_.program;
    program.name = order_.program;
    program.arguments = to_arguments(plan);
    program.environment = order_.environment;
    program.input = commands.value().read.get();
    program.report = verdicts.value().write.get();
    auto process = ChildProcess::spawn(std::move(program));
    if (!process) {
        return process.error();
    }
    return Supervisor{std::move(process).value(), std::move(commands.value().write),
                      std::move(verdicts.value().read)};
}

SessionResult Session::run()
{
    constexpr int kStarts = 2;  // one more if it is killed from outside
    for (int left = kStarts;; --left) {
        begin();
        auto supervisor = start();
        if (!supervisor) {
            return Broken{supervisor.error()};
        }
        SessionResult result = follow(supervisor.value());
        const bool ended_first = closed_;
        const bool works = !std::holds_alternative<Broken>(result);
        const auto status = finish(std::move(supervisor).value(), works ? kFinish : kFinishBroken);
        const bool killed = ended_first && status && status->signal != 0;
        if (killed && !std::holds_alternative<Taken>(result) && left > 1 &&
            Clock::now() < deadline_) {
            continue;
        }
        if (auto* failed = std::get_if<Broken>(&result)) {
            failed->error.cause += "; it " + ending_text(status);
        }
        return result;
    }
}

/// Nothing is known; the list's own probe is asked from the start where it has several entries.
void Session::begin()
{
    closed_ = false;
    overdue_.reset();
    watch_ = Watch{};
    watch_.started = Clock::now();
    watch_.deadline = deadline_;
    watch_.tokens.resize(order_.list.tokens.size());
    watch_.survey.asked = watch_.tokens.empty();
    watch_.whole.asked = watch_.tokens.size() > 1;
    watch_.whole.asked_at = watch_.started;
    for (std::size_t i = 0; watch_.whole.asked && i < watch_.tokens.size(); ++i) {
        watch_.whole.positions.push_back(i);
    }
}

SessionResult Session::follow(Supervisor& supervisor)
{
    for (;;) {
        const Step step = decide(order_.list, order_.need, watch_, Clock::now());
        if (auto over = act(supervisor, step)) {
            return std::move(*over);
        }
    }
}

std::optional<SessionResult> Session::act(Supervisor& supervisor, const Step& step)
{
    if (step.kind == Step::Kind::take) {
        return Taken{step.positions};
    }
    if (step.kind == Step::Kind::refuse && step.refusal == Step::Refusal::own_fault) {
        return Broken{broken("the probe of the chosen list failed")};
    }
    if (step.kind == Step::Kind::refuse) {
        return Short{step.refusal, step.positions};
    }
    if (closed_) {
        // Before the deadline none ends by itself while the chosen list is checked.
        const bool died =
            watch_.chosen.asked && !watch_.chosen.answered() && Clock::now() < deadline_;
        if (!died && give_up(step)) {
            return std::nullopt;
        }
        return Broken{broken("the supervisor " + order_.program + " ended before all was known")};
    }
    if (step.kind != Step::Kind::wait) {
        closed_ = !carry_out(supervisor, step);
        return std::nullopt;
    }
    return await(supervisor, step.until);
}

std::optional<SessionResult> Session::await(Supervisor& supervisor, TimePoint until)
{
    // Counted from when we notice: a step that was suspended meanwhile has answers to read first.
    const TimePoint now = Clock::now();
    if (!overdue_ && now >= deadline_) {
        overdue_ = now;
    }
    const Deadline patience(overdue_ ? *overdue_ + kAfterDeadline : deadline_);
    if (overdue_ && patience.passed()) {
        return Broken{broken("the supervisor " + order_.program + " is silent")};
    }
    std::array<pollfd, 2> events{
        {{signals_.descriptor(), POLLIN, 0}, {supervisor.verdicts.get(), POLLIN, 0}}};
    ::poll(events.data(), events.size(), patience.earlier(until).poll_timeout());
    if (const int signal = signals_.take()) {
        return Interrupted{signal};
    }
    if (events[1].revents != 0 && !take_verdicts(supervisor)) {
        return Broken{broken("the supervisor " + order_.program + " spoke out of turn")};
    }
    return std::nullopt;
}

ListWatch& Session::asked_by(Step::Kind kind)
{
    switch (kind) {
        case Step::Kind::survey:
            return watch_.survey;
        case Step::Kind::evidence:
            return watch_.evidence;
        default:
            return watch_.chosen;
    }
}

bool Session::carry_out(Supervisor& supervisor, const Step& step)
{
    ListWatch& asked = asked_by(step.kind);
    asked.asked = true;
    asked.asked_at = Clock::now();
    asked.positions = step.positions;
    if (step.kind != Step::Kind::check_chosen) {
        return command(supervisor, step.kind == Step::Kind::survey ? kSurvey : kEvidence);
    }
    std::vector<std::string> numbers;
    for (const std::size_t position : step.positions) {
        numbers.push_back(std::to_string(position));
    }
    return command(supervisor, std::string(kChosen) + " " + join(numbers, ","));
}

/// Nothing more will come: probes of lists that did not answer have no opinion.
/// \return false when that changes nothing: it is the tokens that are not known
bool Session::give_up(const Step& step)
{
    if (step.kind != Step::Kind::wait) {
        ListWatch& not_asked = asked_by(step.kind);
        not_asked.asked = true;
        not_asked.positions = step.positions;
    }
    bool changed = false;
    for (ListWatch* list : {&watch_.whole, &watch_.chosen, &watch_.survey, &watch_.evidence}) {
        if (list->asked && !list->answered()) {
            list->verdict = Verdict{};
            changed = true;
        }
    }
    return changed;
}

bool Session::command(Supervisor& supervisor, const std::string& line)
{
    constexpr milliseconds kWriting{1000};
    return write_until(supervisor.commands.get(), line + "\n", Deadline::after(kWriting));
}

bool Session::take_verdicts(Supervisor& supervisor)
{
    const LineReader::State state = supervisor.lines.fill(supervisor.verdicts.get());
    std::string line;
    while (supervisor.lines.next(line)) {
        if (!take_verdict(line)) {
            return false;
        }
    }
    closed_ = state == LineReader::State::closed;
    return state != LineReader::State::broken;
}

bool Session::take_verdict(const std::string& line)
{
    Verdict verdict;
    const std::string who = decode(line, verdict);
    for (auto [name, list] : {std::pair<const char*, ListWatch*>{kWhole, &watch_.whole},
                              {kChosen, &watch_.chosen},
                              {kSurvey, &watch_.survey},
                              {kEvidence, &watch_.evidence}}) {
        if (who == name) {
            list->verdict = std::move(verdict);
            return list->asked;
        }
    }
    const auto position = parse_number(who, kMostTokens);
    if (!position || *position >= watch_.tokens.size()) {
        return false;
    }
    TokenWatch& token = watch_.tokens[static_cast<std::size_t>(*position)];
    token.at = Clock::now();
    token.verdict = std::move(verdict);
    return true;
}

std::optional<ExitStatus> Session::finish(Supervisor supervisor, milliseconds grace)
{
    const Deadline deadline = Deadline::after(grace);
    supervisor.commands.reset();
    while (!closed_ && !deadline.passed()) {
        pollfd event{supervisor.verdicts.get(), POLLIN, 0};
        ::poll(&event, 1, deadline.poll_timeout());
        note_stuck(supervisor);
    }
    auto status = reap_until(supervisor.process, deadline);
    if (!status) {
        supervisor.process.signal(SIGKILL);  // its probes die with it
        status = reap_until(supervisor.process, Deadline::after(kKillWait));
    }
    return status;
}

/// After the decision only probes that cannot be killed are of interest.
void Session::note_stuck(Supervisor& supervisor)
{
    closed_ = supervisor.lines.fill(supervisor.verdicts.get()) != LineReader::State::open;
    std::string line;
    while (supervisor.lines.next(line)) {
        Verdict verdict;
        const auto position = parse_number(decode(line, verdict), kMostTokens);
        if (position && *position < watch_.tokens.size() && verdict.stuck_pid != 0) {
            watch_.tokens[static_cast<std::size_t>(*position)].stuck = std::move(verdict);
        }
    }
}

}  // namespace auto_gpus
