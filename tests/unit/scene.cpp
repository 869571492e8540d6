#include "tests/unit/scene.hpp"

#include <cstdio>

#include "src/base/text.hpp"
#include "tests/unit/unit.hpp"

namespace auto_gpus::unit {
namespace {

struct Event {
    std::string_view who;
    std::string_view what;
    milliseconds at{0};
};

milliseconds milliseconds_in(std::string_view text)
{
    const auto number = parse_number(text, 1000000000);
    ck_assert_msg(number.has_value(), "no time: %s", std::string(text).c_str());
    return milliseconds(*number);
}

Event event_in(std::string_view text)
{
    const std::size_t colon = text.find(':');
    const std::size_t at = text.find('@');
    ck_assert_msg(colon < at && at != std::string_view::npos, "%s", std::string(text).c_str());
    return {text.substr(0, colon), text.substr(colon + 1, at - colon - 1),
            milliseconds_in(text.substr(at + 1))};
}

Reason reason_in(std::string_view text)
{
    const auto reason = reason_from_name(text);
    ck_assert_msg(reason.has_value(), "no reason: %s", std::string(text).c_str());
    return *reason;
}

std::vector<std::size_t> positions_in(std::string_view text)
{
    std::vector<std::size_t> positions;
    for (const std::string_view number : split(text, ',')) {
        positions.push_back(static_cast<std::size_t>(parse_number(number, 999).value()));
    }
    return positions;
}

Verdict token_verdict(std::string_view what, std::size_t position)
{
    if (starts_with(what, "ok")) {
        const std::size_t gpu =
            what == "ok" ? position
                         : static_cast<std::size_t>(parse_number(what.substr(3), 999).value());
        return verdict_of(Reason::usable, gpu);
    }
    const bool final = !ends_with(what, "?");
    Verdict verdict =
        verdict_of(reason_in(what.substr(0, what.size() - (final ? 0 : 1))), position);
    verdict.final = final;
    return verdict;
}

Verdict list_verdict(std::string_view what, const Watch& watch, const ListWatch& asked)
{
    const bool seen = what == "agree" || what == "fewer" || what == "other" || what == "mig";
    if (!seen) {
        return token_verdict(what, 0);
    }
    std::vector<std::string> uuids;
    for (const std::size_t position : asked.positions) {
        const auto& alone = watch.tokens[position].verdict;
        uuids.push_back(alone && !alone->evidence.uuid.empty() ? alone->evidence.uuid
                                                               : uuid_of(position));
    }
    if (what == "fewer") {
        uuids.pop_back();
    } else if (what == "other") {
        uuids.back() = uuid_of(99);
    } else if (what == "mig") {
        uuids.resize(1);
    }
    Verdict verdict;
    verdict.reason = Reason::usable;
    verdict.evidence.count = static_cast<std::int32_t>(uuids.size());
    verdict.evidence.uuids = join(uuids, ",");
    return verdict;
}

void apply_to_list(ListWatch& list, const Event& event, const Watch& watch)
{
    if (list.asked) {
        list.verdict = list_verdict(event.what, watch, list);
        return;
    }
    list.asked = true;
    list.asked_at = kStart + event.at;
    if (event.what != "ask") {
        list.positions = positions_in(event.what);
    }
}

void apply(Watch& watch, const Event& event)
{
    if (event.who == "deadline") {
        watch.deadline = kStart + milliseconds_in(event.what);
    } else if (event.who == "whole") {
        apply_to_list(watch.whole, event, watch);
    } else if (event.who == "chosen") {
        apply_to_list(watch.chosen, event, watch);
    } else if (event.who == "survey") {
        apply_to_list(watch.survey, event, watch);
    } else if (event.who == "evidence") {
        apply_to_list(watch.evidence, event, watch);
    } else {
        const auto position = static_cast<std::size_t>(parse_number(event.who, 999).value());
        watch.tokens.at(position) = {token_verdict(event.what, position), kStart + event.at};
    }
}

std::string text_of_positions(const std::vector<std::size_t>& positions)
{
    std::vector<std::string> texts;
    texts.reserve(positions.size());
    for (const std::size_t position : positions) {
        texts.push_back(std::to_string(position));
    }
    return join(texts, ",");
}

}  // namespace

std::string uuid_of(std::size_t number)
{
    char text[64];
    std::snprintf(text, sizeof text, "GPU-%08zu-aaaa-bbbb-cccc-%012zu", number, number);
    return text;
}

TokenList list_of(std::string_view value)
{
    auto list = parse_token_list(value);
    ck_assert_msg(static_cast<bool>(list), "%s", std::string(value).c_str());
    return std::move(list).value();
}

Verdict verdict_of(Reason reason, std::size_t number)
{
    Verdict verdict;
    verdict.reason = reason;
    verdict.tries = 1;
    if (reason == Reason::usable) {
        verdict.evidence.stage = Stage::done;
        verdict.evidence.count = 1;
        verdict.evidence.uuid = uuid_of(number);
    }
    return verdict;
}

Watch watch_of(const TokenList& list, std::string_view events, milliseconds moment)
{
    Watch watch;
    watch.started = kStart;
    watch.tokens.resize(list.tokens.size());
    if (list.tokens.size() > 1) {
        watch.whole.asked = true;
        watch.whole.asked_at = kStart;
        for (std::size_t i = 0; i < list.tokens.size(); ++i) {
            watch.whole.positions.push_back(i);
        }
    }
    for (const std::string_view text : split(events, ' ')) {
        const Event event = text.empty() ? Event{} : event_in(text);
        if (!event.who.empty() && event.at <= moment) {
            apply(watch, event);
        }
    }
    return watch;
}

std::string text_of_step(const Step& step)
{
    using std::chrono::duration_cast;
    const std::string positions = text_of_positions(step.positions);
    switch (step.kind) {
        case Step::Kind::wait:
            return step.until == TimePoint::max()
                       ? "wait"
                       : "wait " + std::to_string(
                                       duration_cast<milliseconds>(step.until - kStart).count());
        case Step::Kind::check_chosen:
            return "check " + positions;
        case Step::Kind::survey:
            return "survey";
        case Step::Kind::evidence:
            return "evidence";
        case Step::Kind::take:
            return "take " + positions;
        case Step::Kind::refuse:
            break;
    }
    switch (step.refusal) {
        case Step::Refusal::conflict:
            return "conflict " + positions;
        case Step::Refusal::unchecked:
            return "unchecked " + positions;
        case Step::Refusal::own_fault:
            return "own-fault " + positions;
        case Step::Refusal::too_few:
            break;
    }
    return "refuse" + positions;
}

void check_scene(const Scene& scene)
{
    const TokenList list = list_of(scene.list);
    for (const std::string_view look : split(scene.looks, '|')) {
        const std::size_t blank = look.find(' ');
        const milliseconds moment = milliseconds_in(look.substr(0, blank));
        const Watch watch = watch_of(list, scene.events, moment);
        const std::string step = text_of_step(decide(list, scene.need, watch, kStart + moment));
        const std::string where =
            std::string(scene.name) + ", after " + std::to_string(moment.count()) + " ms";
        same_text(where.c_str(), step, look.substr(blank + 1));
        const std::string again = text_of_step(decide(list, scene.need, watch, kStart + moment));
        same_text(where.c_str(), again, step);
    }
}

// --- comparisons

std::string text_of_evidence(const Evidence& e)
{
    std::string text = std::to_string(static_cast<int>(e.stage));
    for (const std::uint32_t time : e.began_us) {
        text += "|" + std::to_string(time);
    }
    for (const std::string& value :
         {e.libcuda, e.load_error, e.call, e.uuid, e.pci, e.model, e.notes, e.uuids}) {
        text += "|" + value;
    }
    for (const std::int32_t value : {e.result, e.driver_version, e.count, e.compute_mode}) {
        text += "|" + std::to_string(value);
    }
    for (const std::uint64_t value : {e.total, e.free, e.address_limit, e.mismatch_offset}) {
        text += "|" + std::to_string(value);
    }
    return text + "|" + std::to_string(e.expected) + "|" + std::to_string(e.found) +
           (e.mps ? "|mps" : "|") + (e.mismatch ? "|mismatch" : "|");
}

std::string text_of_verdict(const Verdict& v)
{
    return std::string(name(v.reason)) + (v.final ? "|final" : "|again") + "|" +
           std::to_string(static_cast<int>(v.ending)) + "|" + std::to_string(v.exit_code) + "|" +
           std::to_string(v.signal) + "|" + std::to_string(v.stuck_pid) + "|" +
           std::to_string(v.tries) + "|" + std::to_string(v.took_us) + "|" +
           text_of_evidence(v.evidence);
}

}  // namespace auto_gpus::unit
