#include "src/probe/check.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

#include "src/base/text.hpp"
#include "src/core/cuda_result.hpp"
#include "src/probe/nvml.hpp"

namespace auto_gpus {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;
constexpr std::size_t kPieces = 16;  // of 1 MiB: enough to leave no cache in between, cheap to hold
constexpr std::size_t kWordsPerPiece = kMiB / sizeof(std::uint32_t);

/// Each piece has a value of its own, so that one piece seen in another's place is found out.
std::uint32_t pattern(std::size_t piece) noexcept
{
    return 0xA5C30F69U ^ (static_cast<std::uint32_t>(piece) * 0x01010101U);
}

std::uint64_t address_limit() noexcept
{
    rlimit limit{};
    const bool limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return limited ? static_cast<std::uint64_t>(limit.rlim_cur) : 0;
}

std::string uuid_text(const std::string& prefix, const cuda::Uuid& uuid)
{
    std::string text = prefix;
    for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
        std::array<char, 3> hex{};
        std::snprintf(hex.data(), hex.size(), "%02x", static_cast<unsigned>(uuid.bytes[i]));
        text += hex.data();
        if (i == 3 || i == 5 || i == 7 || i == 9) {
            text += '-';
        }
    }
    return text;
}

/// One run of the check. Each step returns whether to go on; what it found is in `evidence`.
class Check {
public:
    Check(std::string uuid_prefix, const Tell& tell)
        : uuid_prefix_(std::move(uuid_prefix)), tell_(tell)
    {
        evidence_.address_limit = address_limit();
    }

    Evidence run(CheckKind kind, const std::string& libcuda)
    {
        if (kind == CheckKind::evidence) {
            enter(Stage::evidence);
            evidence_.notes = nvml_notes();
            enter(Stage::done);
        } else if (load(libcuda) && init() && look(kind)) {
            enter(Stage::done);
        }
        tell_(evidence_);
        return std::move(evidence_);
    }

private:
    bool enter(Stage stage)
    {
        evidence_.stage = stage;
        const std::uint32_t since = microseconds_32(std::chrono::steady_clock::now() - begin_);
        evidence_.began_us[static_cast<std::size_t>(stage)] = std::max(since, 1U);  // 0: not begun
        return tell_(evidence_);
    }

    /// Notes a failing call. \return whether it succeeded
    bool ok(const char* call, int result)
    {
        if (result == cuda::kSuccess) {
            return true;
        }
        if (evidence_.call.empty()) {
            evidence_.call = call;
            evidence_.result = result;
        }
        return false;
    }

    bool load(const std::string& libcuda)
    {
        enter(Stage::load);
        auto loaded = cuda::Driver::load(libcuda);
        if (!loaded) {
            evidence_.load_error = loaded.error().cause;
            return false;
        }
        driver_ = std::make_unique<cuda::Driver>(std::move(loaded).value());
        evidence_.libcuda = driver_->path();
        return true;
    }

    const cuda::Api& api() const { return driver_->api(); }

    bool init()
    {
        enter(Stage::init);
        // Not a test of anything: a stub or a broken driver fails in cuInit, with a better code.
        (void)api().driver_get_version(&evidence_.driver_version);
        if (!ok("cuInit", api().init(0)) || !enter(Stage::enumerate)) {
            return false;
        }
        int count = 0;
        if (!ok("cuDeviceGetCount", api().device_get_count(&count))) {
            return false;
        }
        evidence_.count = count;
        return true;
    }

    bool look(CheckKind kind)
    {
        if (kind == CheckKind::list) {
            return read_list();
        }
        // Another count than one is no GPU to work on: it is judged by the count.
        return evidence_.count != 1 || (read_gpu() && work());
    }

    bool read_uuid(cuda::Device device, std::string& text)
    {
        cuda::Uuid uuid{};
        if (!ok("cuDeviceGetUuid", api().device_get_uuid(&uuid, device))) {
            return false;
        }
        text = uuid_text(uuid_prefix_, uuid);
        return true;
    }

    bool read_list()
    {
        for (int ordinal = 0; ordinal < evidence_.count; ++ordinal) {
            cuda::Device device = 0;
            std::string uuid;
            if (!ok("cuDeviceGet", api().device_get(&device, ordinal)) ||
                !read_uuid(device, uuid)) {
                return false;
            }
            evidence_.uuids += (ordinal > 0 ? "," : "") + uuid;
        }
        return true;
    }

    bool read_gpu()
    {
        std::array<char, 256> text{};
        const int length = static_cast<int>(text.size()) - 1;
        if (!ok("cuDeviceGet", api().device_get(&device_, 0)) || !enter(Stage::attributes) ||
            !read_uuid(device_, evidence_.uuid) ||
            !ok("cuDeviceGetName", api().device_get_name(text.data(), length, device_))) {
            return false;
        }
        evidence_.model = text.data();
        text.fill('\0');
        if (!ok("cuDeviceGetPCIBusId", api().device_get_pci_bus_id(text.data(), length, device_))) {
            return false;
        }
        evidence_.pci = text.data();
        std::size_t total = 0;
        if (!ok("cuDeviceTotalMem", api().device_total_mem(&total, device_)) ||
            !ok("cuDeviceGetAttribute",
                api().device_get_attribute(&evidence_.compute_mode, cuda::kComputeMode, device_))) {
            return false;
        }
        evidence_.total = total;
        int mps =
            0;  // older drivers do not know the attribute: then it is not MPS as far as we know
        evidence_.mps =
            api().device_get_attribute(&mps, cuda::kMpsEnabled, device_) == cuda::kSuccess &&
            mps != 0;
        return true;
    }

    /// The context lives for this function only, whatever happens within.
    bool work()
    {
        if (!enter(Stage::context)) {
            return false;
        }
        cuda::ContextHandle* context = nullptr;
        if (!ok("cuCtxCreate", api().ctx_create(&context, 0, device_))) {
            return false;
        }
        const bool passed = read_memory() && use_memory();
        const bool wanted = enter(Stage::destroy);
        return ok("cuCtxDestroy", api().ctx_destroy(context)) && passed && wanted;
    }

    bool read_memory()
    {
        std::size_t free = 0;
        std::size_t total = 0;
        if (!ok("cuMemGetInfo", api().mem_get_info(&free, &total))) {
            return false;
        }
        evidence_.free = free;
        evidence_.total = total;
        return true;
    }

    bool use_memory()
    {
        cuda::Pointer memory = 0;
        if (!enter(Stage::allocate) ||
            !ok("cuMemAlloc", api().mem_alloc(&memory, kPieces * kMiB))) {
            return false;
        }
        const bool same = set(memory) && compare(memory);
        return same && enter(Stage::free) && ok("cuMemFree", api().mem_free(memory));
    }

    bool set(cuda::Pointer memory)
    {
        if (!enter(Stage::set)) {
            return false;
        }
        for (std::size_t piece = 0; piece < kPieces; ++piece) {
            if (!ok("cuMemsetD32",
                    api().memset_d32(memory + piece * kMiB, pattern(piece), kWordsPerPiece))) {
                return false;
            }
        }
        return ok("cuCtxSynchronize", api().ctx_synchronize());
    }

    bool compare(cuda::Pointer memory)
    {
        if (!enter(Stage::copy)) {
            return false;
        }
        std::vector<std::uint32_t> words(kWordsPerPiece);
        for (std::size_t piece = 0; piece < kPieces; ++piece) {
            if (!ok("cuMemcpyDtoH", api().memcpy_dtoh(words.data(), memory + piece * kMiB, kMiB)) ||
                !matches(words, piece)) {
                return false;
            }
        }
        return true;
    }

    bool matches(const std::vector<std::uint32_t>& words, std::size_t piece)
    {
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (words[i] != pattern(piece)) {
                evidence_.mismatch = true;
                evidence_.mismatch_offset = piece * kMiB + i * sizeof(std::uint32_t);
                evidence_.expected = pattern(piece);
                evidence_.found = words[i];
                return false;
            }
        }
        return true;
    }

    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::string uuid_prefix_;
    const Tell& tell_;
    std::unique_ptr<cuda::Driver> driver_;
    cuda::Device device_ = 0;
    Evidence evidence_;
};

}  // namespace

Evidence run_check(CheckKind kind, const std::string& libcuda, const std::string& uuid_prefix,
                   const Tell& tell)
{
    return Check(uuid_prefix, tell).run(kind, libcuda);
}

}  // namespace auto_gpus
