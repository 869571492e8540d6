#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spank/option_table.hpp"
#include "spank/task_view.hpp"
#include "src/core/message.hpp"
#include "src/core/session.hpp"

namespace auto_gpus {

/// Lets one task through to exec on GPUs that answered, or says why not and how it has to end.
/// Runs in the task child, as the user.
class TaskGate {
public:
    TaskGate(TaskView task, PluginState& state);

    /// \return nothing when the task may go on, its environment narrowed; else its exit status.
    ///         All that had to be said is on stderr then.
    std::optional<int> pass();

private:
    [[nodiscard]] bool is_left_alone() const;
    [[nodiscard]] bool is_interactive() const;
    [[nodiscard]] Origin origin() const;
    std::optional<int> pass_under(SignalTrap& signals);
    Result<TokenList, Refusal> list(SignalTrap& signals);
    Result<TokenList, Refusal> list_of_node(SignalTrap& signals);
    [[nodiscard]] SessionOrder order(const TokenList& tokens) const;
    std::optional<int> probe(const TokenList& tokens, SignalTrap& signals);
    std::optional<int> settle(const SessionResult& result, const Report& report);
    std::optional<int> narrow(const std::vector<std::size_t>& chosen, const Report& report);
    bool set_variables(const std::vector<std::size_t>& chosen, const Report& report);
    void undo_variables();
    std::optional<int> fall_short(const Short& found, const Report& report);
    std::optional<int> refuse(const Refusal& refusal);
    void forget_results();
    void hide_option_variables();
    void say(const std::string& text) const;

    TaskView task_;
    PluginState& state_;
    Environment environment_;
    std::string node_;
    Settings settings_;
    TimePoint started_ = Clock::now();
    int interrupted_by_ = 0;  ///< the signal that ended a wait
};

/// Writes to the task's stderr, under a deadline.
void say_to_task(std::string_view text) noexcept;

}  // namespace auto_gpus
