// What is said once when every probe finds the same fault of the node.
#include "src/core/message.hpp"
#include "tests/unit/core_suites.hpp"
#include "tests/unit/story.hpp"

namespace auto_gpus::unit {
namespace {

struct Node {
    const char* name;
    Reason reason;
    int result;
    const char* want;  // between the node's name and what is the same in all
};
constexpr Node kNodes[] = {
    {"I01", Reason::system_not_ready, 802,
     "SYSTEM_NOT_READY: cuInit: CUDA_ERROR_SYSTEM_NOT_READY (802), libcuda is "
     "/usr/lib/libcuda.so.1: the system is not yet initialised; likely causes: the fabric manager "
     "of an NVSwitch node is not up, a single GPU is not, or a kernel fault"},
    {"I08", Reason::driver_mismatch, 803,
     "DRIVER_MISMATCH: cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803), libcuda is "
     "/usr/lib/libcuda.so.1: the user library and the kernel module of the driver differ"},
    {"I11", Reason::compat_unsupported, 804,
     "COMPAT_UNSUPPORTED: cuInit: CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE (804), libcuda is "
     "/usr/lib/libcuda.so.1: this libcuda is a forward-compatibility one"},
    {"I12", Reason::unknown_error, 999,
     "UNKNOWN_ERROR: cuInit: CUDA_ERROR_UNKNOWN (999), libcuda is /usr/lib/libcuda.so.1: the "
     "driver says unknown error; likely causes: /dev/nvidia-uvm missing or not permitted, or a "
     "GPU that requires a reset"},
    {"I18", Reason::driver_stub, 34,
     "DRIVER_STUB: cuInit: CUDA_ERROR_STUB_LIBRARY (34), libcuda is /usr/lib/libcuda.so.1: "
     "libcuda is the CUDA toolkit's stub, not a driver"},
    {"G12", Reason::not_initialized, 3,
     "NOT_INITIALIZED: cuInit: CUDA_ERROR_NOT_INITIALIZED (3), libcuda is /usr/lib/libcuda.so.1: "},
    {"304", Reason::os_call_failed, 304,
     "OS_CALL_FAILED: cuInit: CUDA_ERROR_OPERATING_SYSTEM (304), libcuda is "},
    {"807", Reason::mps_error, 807,
     "MPS_ERROR: cuInit: CUDA_ERROR_MPS_SERVER_NOT_READY (807), libcuda is "},
};

START_TEST(a_fault_of_the_node_is_one_line)
{
    const Node& row = kNodes[_i];
    Story story("0,1,2");
    for (std::size_t i = 0; i < 3; ++i) {
        story.fails(i, row.reason, Stage::init, row.result);
    }
    const auto lines = lines_of(row.name, short_text(story.report(), {}));
    ck_assert_msg(lines.size() == 1, "%s: %zu lines", row.name, lines.size());
    has(row.name, lines[0], std::string("auto-gpus: gpu07: ") + row.want);
    has(row.name, lines[0],
        std::string("; no task started on this node; ") + info(row.reason).remedy);
    lacks(row.name, short_text(story.report(Audience::shell), {}), "no task started");
    // One that is different, and it is no longer the node's.
    story.says(1, Reason::usable);
    ck_assert_uint_eq(lines_of(row.name, short_text(story.report(), {})).size(), 5);
}
END_TEST

START_TEST(faults_of_the_node_may_differ)
{
    Story story("0,1,2");
    story.fails(0, Reason::system_not_ready, Stage::init, 802);
    story.fails(1, Reason::os_call_failed, Stage::init, 304);
    story.fails(2, Reason::os_call_failed, Stage::init, 304);
    has("I04: the first wins, both are told", short_text(story.report(), {}),
        "auto-gpus: gpu07: SYSTEM_NOT_READY: cuInit: CUDA_ERROR_SYSTEM_NOT_READY (802), also "
        "cuInit: CUDA_ERROR_OPERATING_SYSTEM (304), libcuda is ");
}
END_TEST

START_TEST(unknown_error_of_one_gpu_that_is_known_is_its_own)
{
    Story story("0");
    story.fails(0, Reason::unknown_error, Stage::init, 999);
    ck_assert_uint_eq(lines_of("before it was known", short_text(story.report(), {})).size(), 1);
    story.fails(0, Reason::unknown_error, Stage::context, 999);
    story.knows(0);
    ck_assert_uint_eq(lines_of("its own", short_text(story.report(), {})).size(), 3);
    story.fails(0, Reason::system_not_ready, Stage::context, 802);
    story.knows(0);
    ck_assert_uint_eq(lines_of("802 is the node's", short_text(story.report(), {})).size(), 1);
}
END_TEST

START_TEST(nvml_may_explain_it)
{
    Story story("0,1");
    story.fails(0, Reason::unknown_error, Stage::init, 999);
    story.fails(1, Reason::unknown_error, Stage::init, 999);
    story.watch.evidence.verdict = verdict_of(Reason::usable, 0);
    story.watch.evidence.verdict->evidence.notes = "0000:17:00.0 GPU-9 the GPU requires a reset";
    has("G16", short_text(story.report(), {}),
        "; NVML: 0000:17:00.0: the GPU requires a reset; no task started on this node; ");
}
END_TEST

START_TEST(no_driver_is_in_the_loaders_words)
{
    Story story("0");
    Evidence& evidence = story.says(0, Reason::driver_missing).evidence;
    evidence.libcuda.clear();
    evidence.load_error = "libcuda.so.1: cannot open shared object file: No such file or directory";
    same_text("said", short_text(story.report(), {}),
              "auto-gpus: gpu07: DRIVER_MISSING: libcuda.so.1: cannot open shared object file: No "
              "such file or directory: libcuda cannot be loaded; no task started on this node; use "
              "a node with the NVIDIA driver, or report this one\n");
}
END_TEST

START_TEST(a_virtual_memory_limit_is_named)
{
    Story story("0,1");
    for (std::size_t i = 0; i < 2; ++i) {
        story.fails(i, Reason::address_limit, Stage::context, 2).evidence.address_limit = 16 * kGiB;
    }
    has("K07", short_text(story.report(), {}),
        "ADDRESS_LIMIT: cuCtxCreate: CUDA_ERROR_OUT_OF_MEMORY (2), libcuda is "
        "/usr/lib/libcuda.so.1, the limit is 16.0 GiB: ");
}
END_TEST

START_TEST(no_gpu_at_all_needs_a_survey_that_says_so)
{
    Story story("0,1");
    story.fails(0, Reason::not_visible, Stage::init, 100);
    story.fails(1, Reason::not_visible, Stage::init, 100);
    ck_assert_uint_eq(lines_of("no survey", short_text(story.report(), {})).size(), 4);
    story.surveyed(4);
    ck_assert_uint_eq(lines_of("four GPUs", short_text(story.report(), {})).size(), 4);
    story.surveyed(-1, 100);
    const auto lines = lines_of("none", short_text(story.report(), {}));
    ck_assert_uint_eq(lines.size(), 1);
    has("none", lines[0], "gpu07: NO_DEVICE: cuInit: CUDA_ERROR_NO_DEVICE (100), libcuda is ");
    story.says(1, Reason::not_visible).evidence.count = 0;
    ck_assert_uint_eq(lines_of("one was enumerated as none", short_text(story.report(), {})).size(),
                      4);
    story.says(1, Reason::timeout);
    ck_assert_uint_eq(lines_of("not all", short_text(story.report(), {})).size(), 4);
}
END_TEST

}  // namespace

Suite* message_node_suite()
{
    return suite_of("message of a node", {{a_fault_of_the_node_is_one_line, std::size(kNodes)},
                                          {faults_of_the_node_may_differ},
                                          {unknown_error_of_one_gpu_that_is_known_is_its_own},
                                          {nvml_may_explain_it},
                                          {no_driver_is_in_the_loaders_words},
                                          {a_virtual_memory_limit_is_named},
                                          {no_gpu_at_all_needs_a_survey_that_says_so}});
}

}  // namespace auto_gpus::unit
