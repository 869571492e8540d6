// Lines that no probe would write: the codec refuses or accepts them, and what it accepts it can
// write again.
#include "src/core/verdict.hpp"
#include "tests/unit/core_suites.hpp"
#include "tests/unit/random.hpp"
#include "tests/unit/scene.hpp"

namespace auto_gpus::unit {
namespace {

constexpr int kLines = 120000;

std::string random_bytes(std::mt19937_64& random)
{
    std::string bytes(below(random, 60), '\0');
    for (char& byte : bytes) {
        byte = static_cast<char>(random());
    }
    return bytes;
}

/// A line made of the codec's own words and of what comes near them.
std::string random_words(std::mt19937_64& random)
{
    constexpr const char* kParts[] = {
        "who",   "reason", "final",   "ending",     "exit",       "signal",
        "stuck", "tries",  "took",    "stage",      "init",       "load",
        "count", "result", "uuid",    "uuids",      "model",      "total_bytes",
        "mps",   "found",  "=",       "=",          "=",          " ",
        " ",     "usable", "CRASHED", "done",       "copy",       "0",
        "1",     "-1",     "999",     "4294967295", "4294967296", "18446744073709551615",
        "%",     "%2",     "%20",     "%ff",        "GPU-",       "whole",
        "\n",    "x"};
    std::string line;
    for (std::size_t i = below(random, 24); i > 0; --i) {
        line += kParts[below(random, std::size(kParts))];
    }
    return line;
}

/// A good line with a few bytes changed, taken out or put in.
std::string nearly_good(std::mt19937_64& random)
{
    Verdict verdict = verdict_of(static_cast<Reason>(below(random, kReasonCount)), 1);
    verdict.evidence.stage = static_cast<Stage>(below(random, kStageCount));
    verdict.evidence.model = random_bytes(random);
    verdict.evidence.count = static_cast<std::int32_t>(below(random, 20)) - 5;
    std::string line = encode("1", verdict);
    for (std::size_t i = below(random, 4); i > 0; --i) {
        const std::size_t at = below(random, line.size());
        switch (below(random, 3)) {
            case 0:
                line[at] = static_cast<char>(random());
                break;
            case 1:
                line.erase(at, 1 + below(random, 8));
                break;
            default:
                line.insert(at, random_bytes(random));
                break;
        }
        line += line.empty() ? "x" : "";
    }
    return line;
}

void try_line(const std::string& line)
{
    Verdict verdict;
    const std::string who = decode(line, verdict);
    if (!who.empty()) {
        Verdict again;
        same_text("whose", decode(encode(who, verdict), again), who);
        same_text("written again", text_of_verdict(again), text_of_verdict(verdict));
    }
    Evidence evidence;
    if (decode_into(evidence, line)) {
        Evidence again;
        const std::string changes = encode_changes(Evidence{}, evidence);
        ck_assert(changes.empty() || decode_into(again, changes));
        same_text("evidence, written again", text_of_evidence(again), text_of_evidence(evidence));
    }
}

START_TEST(strange_lines_do_no_harm)
{
    std::mt19937_64 random = random_numbers("strange lines");
    for (int i = 0; i < kLines; i += 3) {
        try_line(random_bytes(random));
        try_line(random_words(random));
        try_line(nearly_good(random));
    }
}
END_TEST

}  // namespace

Suite* wire_fuzz_suite()
{
    return suite_of("wire, fuzzed", {{strange_lines_do_no_harm}}, 240);
}

}  // namespace auto_gpus::unit
