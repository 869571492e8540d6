#include "src/core/table.hpp"

#include <algorithm>

#include "src/base/text.hpp"
#include "src/core/detail.hpp"

namespace auto_gpus {
namespace {

constexpr std::ptrdiff_t kMostLines = 64;
constexpr std::size_t kMostRows = 60;          // of a message's 64 lines
constexpr std::size_t kMostDetailBytes = 400;  // of words that somebody else wrote

std::string short_uuid(const std::string& uuid)
{
    constexpr std::size_t kShown = 4 + 8;  // "GPU-" and 8 digits
    return printable(uuid.substr(0, kShown));
}

std::string short_pci(const std::string& pci)
{
    constexpr std::string_view kNoDomain = "0000:";
    return printable(starts_with(pci, kNoDomain) ? pci.substr(kNoDomain.size()) : pci);
}

/// Rows with the columns padded; the last column of a row is as long as it is.
std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows)
{
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i + 1 < row.size(); ++i) {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    std::vector<std::string> lines;
    for (const auto& row : rows) {
        std::string text;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const bool last = i + 1 == row.size();
            text += "  " + row[i] + (last ? "" : std::string(widths[i] - row[i].size(), ' '));
        }
        lines.push_back(std::move(text));
    }
    return lines;
}

std::vector<std::string> row(const Verdict& verdict, const Token& token, const Report& report)
{
    std::vector<std::string> columns{printable(token.text), name(verdict.reason)};
    const Evidence& evidence = verdict.evidence;
    if (!evidence.model.empty()) {
        columns.push_back(printable(evidence.model));
        columns.push_back(short_uuid(evidence.uuid));
        columns.push_back(short_pci(evidence.pci));
    }
    columns.push_back(printable(detail_text(verdict, token, report), kMostDetailBytes));
    return columns;
}

/// How long each stage took, those of 5 ms or more.
std::string stage_times(const Evidence& evidence)
{
    constexpr std::uint32_t kWorthSaying = 5000;  // us
    std::string text;
    std::uint32_t before = 0;
    const char* stage = nullptr;
    for (std::size_t i = 0; i < kStageCount; ++i) {
        const std::uint32_t began = evidence.began_us[i];
        if (began == 0) {
            continue;
        }
        if (stage != nullptr && began - before >= kWorthSaying) {
            text += std::string(text.empty() ? "" : ", ") + stage + " " +
                    seconds_text(std::chrono::microseconds(began - before));
        }
        stage = name(static_cast<Stage>(i));
        before = began;
    }
    return text;
}

}  // namespace

std::string line(const std::string& node, const std::string& text)
{
    return "auto-gpus: " + printable(node) + ": " + text + "\n";
}

std::string at_most_lines(const std::string& text, const std::string& node)
{
    const auto lines = std::count(text.begin(), text.end(), '\n');
    if (lines <= kMostLines) {
        return text;
    }
    std::size_t end = 0;
    for (std::ptrdiff_t kept = 0; kept < kMostLines - 1; ++kept) {
        end = text.find('\n', end) + 1;
    }
    return text.substr(0, end) +
           line(node, "and " + std::to_string(lines - kMostLines + 1) + " lines more");
}

std::string table_text(const std::vector<Verdict>& verdicts, const Report& report, bool stages)
{
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < verdicts.size() && i < kMostRows; ++i) {
        rows.push_back(row(verdicts[i], report.list.tokens[i], report));
        const std::string times = stages ? stage_times(verdicts[i].evidence) : std::string();
        if (!times.empty()) {
            rows.back().back() += "  (" + times + ")";
        }
    }
    std::string text;
    for (const std::string& one : aligned(rows)) {
        text += line(report.node, one);
    }
    if (verdicts.size() > rows.size()) {
        text +=
            line(report.node, "  and " + std::to_string(verdicts.size() - rows.size()) + " more");
    }
    return text;
}

}  // namespace auto_gpus
