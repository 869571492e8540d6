#include "src/cli/supervisor.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <list>

#include "src/base/confine.hpp"
#include "src/base/oom.hpp"
#include "src/base/signal_trap.hpp"
#include "src/base/text.hpp"
#include "src/cli/subject.hpp"
#include "src/core/token_list.hpp"

namespace auto_gpus {
namespace {

constexpr int kStatusGood = 0;
constexpr int kStatusBadCall = 64;
constexpr int kStatusOrphan = 70;
constexpr int kCommands = STDIN_FILENO;

class Supervisor {
public:
    Supervisor(ProbeSetting setting, TokenList list, SignalTrap signals)
        : setting_(std::move(setting)),
          list_(std::move(list)),
          signals_(std::move(signals)),
          deadline_(setting_.started + setting_.plan.timeout)
    {}

    int run()
    {
        start_all();
        while (!over()) {
            await_event();
            take_signals();
            take_commands();
            advance_all();
            flush();
        }
        return kStatusGood;
    }

private:
    void add(std::string who, CheckKind kind, std::optional<std::string> visible)
    {
        ProbeOrder order;
        order.kind = kind;
        order.visible = std::move(visible);
        order.libcuda = setting_.plan.libcuda;
        subjects_.emplace_back(std::move(who), std::move(order));
        subjects_.back().start(setting_);
    }

    void start_all()
    {
        if (list_.tokens.empty()) {
            add(kSurvey, CheckKind::list, std::nullopt);
        }
        for (std::size_t i = 0; i < list_.tokens.size(); ++i) {
            add(std::to_string(i), CheckKind::work, list_.tokens[i].text);
        }
        if (list_.tokens.size() > 1) {
            add(kWhole, CheckKind::list, joined(list_));
        }
    }

    [[nodiscard]] bool over() const
    {
        const bool all_over = std::all_of(subjects_.begin(), subjects_.end(),
                                          [](const Subject& subject) { return subject.over(); });
        // With the input open, another command may come until the time is up.
        return all_over && (ending_ || (deadline_.passed() && out_.empty()));
    }

    TimePoint next_timer() const
    {
        // After the deadline the subjects' own timers run the ends that it asked for.
        TimePoint next = deadline_.passed() ? TimePoint::max() : deadline_.when();
        for (const Subject& subject : subjects_) {
            next = std::min(next, subject.next_timer());
        }
        return next;
    }

    void await_event()
    {
        std::vector<pollfd> events{
            {signals_.descriptor(), POLLIN, 0},
            {ending_ ? -1 : kCommands, POLLIN, 0},
            {ending_ ? -1 : kReportFd, static_cast<short>(out_.empty() ? 0 : POLLOUT), 0},
        };
        const std::size_t fixed = events.size();
        for (const Subject& subject : subjects_) {
            events.push_back({subject.descriptor(), POLLIN, 0});
        }
        const int ready =
            ::poll(events.data(), events.size(), Deadline(next_timer()).poll_timeout());
        if (ready <= 0) {
            return;
        }
        ending_ = ending_ || (events[2].revents & (POLLERR | POLLNVAL)) != 0;
        std::size_t i = fixed;
        for (Subject& subject : subjects_) {
            if (events[i++].revents != 0) {
                subject.read();
            }
        }
    }

    void take_signals()
    {
        while (const int signal = signals_.take()) {
            // Told to end by somebody else: what the probes did not say by now is nobody's fault.
            silent_ = silent_ || signal != SIGCHLD;
            ending_ = ending_ || silent_;
        }
    }

    void take_commands()
    {
        if (ending_) {
            return;
        }
        const LineReader::State state = commands_.fill(kCommands);
        std::string line;
        while (commands_.next(line)) {
            obey(line);
        }
        ending_ = ending_ || state != LineReader::State::open;
    }

    void obey(const std::string& line)
    {
        const auto words = split(line, ' ');
        if (words[0] == kSurvey && words.size() == 1) {
            add(kSurvey, CheckKind::list, std::nullopt);
            return;
        }
        if (words[0] == kEvidence && words.size() == 1) {
            add(kEvidence, CheckKind::evidence, std::nullopt);
            return;
        }
        std::vector<std::size_t> positions;
        if (words[0] != kChosen || words.size() != 2) {
            ending_ = true;
            return;
        }
        for (const std::string_view number : split(words[1], ',')) {
            const auto position = parse_number(number, kMostTokens);
            if (!position || *position >= list_.tokens.size()) {
                ending_ = true;
                return;
            }
            positions.push_back(static_cast<std::size_t>(*position));
        }
        add(kChosen, CheckKind::list, joined(list_, positions));
    }

    void advance_all()
    {
        const bool closing = ending_ || deadline_.passed();
        const TimePoint now = Clock::now();
        for (Subject& subject : subjects_) {
            subject.advance(setting_, now, closing, out_);
        }
        if (silent_) {
            out_.clear();
        }
    }

    void flush()
    {
        while (!out_.empty()) {
            const ssize_t written = ::write(kReportFd, out_.data(), out_.size());
            if (written > 0) {
                out_.erase(0, static_cast<std::size_t>(written));
            } else if (errno == EAGAIN) {
                return;
            } else if (errno != EINTR) {
                ending_ = true;  // nobody reads any more
                out_.clear();
            }
        }
    }

    ProbeSetting setting_;
    TokenList list_;
    SignalTrap signals_;
    Deadline deadline_;
    std::list<Subject> subjects_;
    LineReader commands_{kLongestLine};
    std::string out_;
    bool ending_ = false;  ///< verdicts are no longer wanted
    bool silent_ = false;  ///< and none is said any more
};

}  // namespace

int supervise(const std::vector<std::string_view>& arguments)
{
    const TimePoint started = Clock::now();
    const auto plan = plan_from_arguments(arguments);
    if (!plan) {
        return kStatusBadCall;
    }
    if (!die_with_parent(plan->parent)) {
        return kStatusOrphan;
    }
    close_descriptors_above(kReportFd);
    forbid_core_dump();
    Environment environment(environ);
    const auto visible = environment.get(kVisibleDevices);
    auto list = visible ? parse_token_list(*visible) : TokenList{};
    auto signals = SignalTrap::set({SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT});
    if (!list || !signals || !set_nonblocking(kCommands) || !set_nonblocking(kReportFd)) {
        return kStatusBadCall;
    }
    ProbeSetting setting{std::move(environment), *plan, started, oom_kills()};
    return Supervisor(std::move(setting), std::move(list).value(), std::move(signals).value())
        .run();
}

}  // namespace auto_gpus
