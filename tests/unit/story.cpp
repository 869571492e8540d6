#include "tests/unit/story.hpp"

#include "src/base/text.hpp"
#include "tests/unit/unit.hpp"

namespace auto_gpus::unit {

Story::Story(std::string_view value) : list(list_of(value)), watch(watch_of(list, "", {}))
{
    for (std::size_t i = 0; i < list.tokens.size(); ++i) {
        says(i, Reason::usable);
        knows(i);
    }
    asks("all");
}

Verdict& Story::says(std::size_t position, Reason reason)
{
    watch.tokens.at(position).verdict = verdict_of(reason, position);
    at(position).took_us = 310000;
    at(position).evidence.libcuda = "/usr/lib/libcuda.so.1";
    return at(position);
}

Verdict& Story::fails(std::size_t position, Reason reason, Stage stage, int result)
{
    Evidence& evidence = says(position, reason).evidence;
    evidence.stage = stage;
    evidence.call = activity(stage);
    evidence.result = result;
    return at(position);
}

Verdict& Story::knows(std::size_t position)
{
    Evidence& evidence = at(position).evidence;
    evidence.model = "NVIDIA H100 80GB HBM3";
    evidence.uuid = uuid_of(position);
    evidence.pci = "0000:1" + std::to_string(position % 10) + ":00.0";
    evidence.total = 80 * kGiB;
    evidence.free = 79 * kGiB;
    return at(position);
}

void Story::asks(const char* request)
{
    const auto parsed = parse_request(request);
    ck_assert(static_cast<bool>(parsed));
    settings.request = parsed.value();
    const bool all = settings.request.kind == Request::Kind::all;
    need = all ? Need{list.tokens.size(), list.tokens.size()}
               : Need{settings.request.min, settings.request.max};
}

void Story::surveyed(int count, int result)
{
    Verdict verdict = verdict_of(count > 0 ? Reason::usable : Reason::not_visible, 0);
    verdict.evidence.count = count;
    verdict.evidence.result = result;
    watch.survey = {true, kStart, {}, verdict};
}

std::vector<std::string> lines_of(const char* row, const std::string& text)
{
    std::vector<std::string> lines;
    if (text.empty()) {
        return lines;
    }
    ck_assert_msg(text.back() == '\n', "%s: the last line does not end", row);
    for (const std::string_view view :
         split(std::string_view(text).substr(0, text.size() - 1), '\n')) {
        const std::string line(view);
        ck_assert_msg(starts_with(line, "auto-gpus: gpu07"), "%s: %s", row, line.c_str());
        for (const char letter : line) {
            ck_assert_msg(letter >= 0x20 && letter < 0x7f, "%s: %s", row, line.c_str());
        }
        lines.push_back(line);
    }
    return lines;
}

}  // namespace auto_gpus::unit
