#include "src/core/nvml_note.hpp"

#include <algorithm>

#include "src/base/text.hpp"

namespace auto_gpus {
namespace {

struct Note {
    std::string_view pci;
    std::string_view uuid;
    std::string_view text;
};

Note parse(std::string_view entry)
{
    const std::size_t first = entry.find(' ');
    const std::size_t second = first == std::string_view::npos ? first : entry.find(' ', first + 1);
    if (second == std::string_view::npos) {
        return {};
    }
    return {entry.substr(0, first), entry.substr(first + 1, second - first - 1),
            entry.substr(second + 1)};
}

/// Used memory explains a refusal of that GPU only.
bool is_fault(const Note& note)
{
    return note.text.find("memory") == std::string_view::npos;
}

}  // namespace

std::string note_for(const std::string& notes, const Evidence& evidence,
                     const std::vector<std::string>& known)
{
    std::vector<std::string> faults;
    for (const std::string_view entry : split(notes, '|')) {
        const Note note = parse(entry);
        if (note.text.empty()) {
            continue;
        }
        if (!evidence.pci.empty() && note.pci == evidence.pci) {
            return std::string(note.text);
        }
        const bool elsewhere = std::find(known.begin(), known.end(), note.pci) != known.end();
        if (evidence.pci.empty() && is_fault(note) && !elsewhere) {
            faults.push_back((note.pci == "-" ? "of a GPU of this node" : std::string(note.pci)) +
                             ": " + std::string(note.text));
        }
    }
    return join(faults, ", ");
}

}  // namespace auto_gpus
