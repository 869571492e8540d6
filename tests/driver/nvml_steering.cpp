// SPDX-License-Identifier: Apache-2.0
#include "nvml_steering.hpp"

#include "fields.hpp"
#include "text.hpp"

namespace fake_nvml {
namespace {

using fake_cuda::Fields;

constexpr char kCalls[] = "init, count, handle, pci, uuid, memory or mig";

void read_call(Fields& fields, const char* key, std::string& into)
{
    fields.read(key, into);
    const std::string known = " init count handle pci uuid memory mig ";
    if (!into.empty() && known.find(" " + into + " ") == std::string::npos) {
        fields.refuse(key, into, kCalls);
    }
}

void read_fault(Fields& fields, Fault& fault)
{
    fields.read_number("result", fault.result);
    read_call(fields, "at", fault.at);
    read_call(fields, "hang", fault.hang);
}

void read_mig(Fields& fields, Gpu& gpu)
{
    std::string mode = "none";
    fields.read("mig", mode);
    fields.read_number("instances", gpu.instances);
    if (mode == "on" || mode == "off") {
        gpu.mig = mode == "on" ? MigMode::on : MigMode::off;
    } else if (mode != "none") {
        fields.refuse("mig", mode, "none, off or on");
    }
}

Gpu read_gpu(Fields& fields)
{
    Gpu gpu;
    gpu.fault.at = "memory";
    fields.read_uuid("uuid", "GPU-", gpu.uuid);
    fields.read_pci("pci", gpu.pci);
    fields.read_size("total", gpu.total);
    fields.read_size("used", gpu.used);
    read_mig(fields, gpu);
    read_fault(fields, gpu.fault);
    return gpu;
}

}  // namespace

Steering parse_steering(std::string_view text, std::string& problem)
{
    Steering steering;
    steering.fault.at = "init";
    for (const std::string& line : fake_cuda::split(text, '\n')) {
        auto words = fake_cuda::split_words(line).value_or(std::vector<std::string>{"\""});
        if (words.empty()) {
            continue;
        }
        const std::string kind = words.front();
        words.erase(words.begin());
        Fields fields(std::move(words));
        if (kind == "gpu") {
            steering.gpus.push_back(read_gpu(fields));
        } else if (kind == "nvml") {
            read_fault(fields, steering.fault);
        } else {
            problem = "'" + kind + "' begins no line; allowed are nvml gpu";
            return steering;
        }
        fields.finish();
        if (!fields.problem().empty()) {
            problem = fields.problem();
            return steering;
        }
    }
    return steering;
}

}  // namespace fake_nvml
