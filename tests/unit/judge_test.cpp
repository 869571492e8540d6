#include <signal.h>

#include "src/core/cuda_result.hpp"
#include "src/core/verdict.hpp"
#include "tests/unit/core_suites.hpp"
#include "tests/unit/scene.hpp"

namespace auto_gpus::unit {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;

/// A verdict on a GPU that passed, with its reason still open.
Verdict passed()
{
    Verdict verdict = verdict_of(Reason::usable, 0);
    verdict.reason = Reason::undecided;
    verdict.evidence.total = 80 * kGiB;
    verdict.evidence.free = 79 * kGiB;
    return verdict;
}

void fails(Verdict& verdict, Stage stage, int result)
{
    verdict.evidence.stage = stage;
    verdict.evidence.call = activity(stage);
    verdict.evidence.result = result;
}

struct Case {
    const char* name;
    Reason want;
    void (*change)(Verdict& verdict, Standard& standard);
};
const Case kCases[] = {
    {"all steps passed", Reason::usable, [](Verdict&, Standard&) {}},
    {"exclusive mode, free", Reason::usable,
     [](Verdict& v, Standard&) { v.evidence.compute_mode = 3; }},
    {"a virtual memory limit that does not hurt", Reason::usable,
     [](Verdict& v, Standard&) { v.evidence.address_limit = kGiB; }},
    {"cuInit 100", Reason::not_visible, [](Verdict& v, Standard&) { fails(v, Stage::init, 100); }},
    {"D07: nothing enumerated", Reason::not_visible,
     [](Verdict& v, Standard&) { v.evidence.count = 0; }},
    {"more GPUs than entries: the driver ignores the list", Reason::driver_error,
     [](Verdict& v, Standard&) { v.evidence.count = 8; }},
    {"A01: 46 in exclusive mode", Reason::busy_exclusive,
     [](Verdict& v, Standard&) {
         v.evidence.compute_mode = 3;
         fails(v, Stage::context, 46);
     }},
    {"A11, A15: 46 in default mode", Reason::unavailable,
     [](Verdict& v, Standard&) { fails(v, Stage::context, 46); }},
    {"L02: 46 under MPS is not the mode's", Reason::unavailable,
     [](Verdict& v, Standard&) {
         v.evidence.compute_mode = 3;
         v.evidence.mps = true;
         fails(v, Stage::context, 46);
     }},
    {"46 in prohibited mode", Reason::prohibited,
     [](Verdict& v, Standard&) {
         v.evidence.compute_mode = 2;
         fails(v, Stage::context, 46);
     }},
    {"999 in prohibited mode", Reason::prohibited,
     [](Verdict& v, Standard&) {
         v.evidence.compute_mode = 2;
         fails(v, Stage::context, 999);
     }},
    {"G01, G05: 214 at the context", Reason::ecc_uncorrectable,
     [](Verdict& v, Standard&) { fails(v, Stage::context, 214); }},
    {"G04: 214 when the work is waited for", Reason::ecc_uncorrectable,
     [](Verdict& v, Standard&) { fails(v, Stage::set, 214); }},
    {"214 at the end", Reason::ecc_uncorrectable,
     [](Verdict& v, Standard&) { fails(v, Stage::destroy, 214); }},
    {"G06, K02: 2 at the allocation", Reason::out_of_memory,
     [](Verdict& v, Standard&) { fails(v, Stage::allocate, 2); }},
    {"K05: 2 at cuInit", Reason::out_of_memory,
     [](Verdict& v, Standard&) { fails(v, Stage::init, 2); }},
    {"K07: 2 under a virtual memory limit", Reason::address_limit,
     [](Verdict& v, Standard&) {
         v.evidence.address_limit = 16 * kGiB;
         fails(v, Stage::context, 2);
     }},
    {"a failed map under a virtual memory limit", Reason::address_limit,
     [](Verdict& v, Standard&) {
         v.evidence.address_limit = kGiB;
         v.evidence.stage = Stage::load;
         v.evidence.load_error = "libcuda.so.1: failed to map segment from shared object";
     }},
    {"no memory for the loader under a limit", Reason::address_limit,
     [](Verdict& v, Standard&) {
         v.evidence.address_limit = kGiB;
         v.evidence.stage = Stage::load;
         v.evidence.load_error = "libcuda.so.1: cannot allocate memory in static TLS block";
     }},
    {"a failed map without a limit", Reason::driver_missing,
     [](Verdict& v, Standard&) {
         v.evidence.stage = Stage::load;
         v.evidence.load_error = "libcuda.so.1: failed to map segment from shared object";
     }},
    {"no libcuda", Reason::driver_missing,
     [](Verdict& v, Standard&) {
         v.evidence.stage = Stage::load;
         v.evidence.load_error = "libcuda.so.1: cannot open shared object file";
     }},
    {"no libcuda, under a limit that is not why", Reason::driver_missing,
     [](Verdict& v, Standard&) {
         v.evidence.address_limit = kGiB;
         v.evidence.stage = Stage::load;
         v.evidence.load_error = "libcuda.so.1: cannot open shared object file";
     }},
    {"less free than asked for", Reason::low_memory,
     [](Verdict&, Standard& s) { s.min_free = 79 * kGiB + 1; }},
    {"as much free as asked for", Reason::usable,
     [](Verdict&, Standard& s) { s.min_free = 79 * kGiB; }},
    {"the read-back differs", Reason::wrong_result,
     [](Verdict& v, Standard&) {
         v.evidence.stage = Stage::destroy;
         v.evidence.mismatch = true;
     }},
    {"I18: the toolkit's stub", Reason::driver_stub,
     [](Verdict& v, Standard&) { fails(v, Stage::init, 34); }},
    {"G12, M03: 3 at cuInit", Reason::not_initialized,
     [](Verdict& v, Standard&) { fails(v, Stage::init, 3); }},
    {"I04: 304", Reason::os_call_failed, [](Verdict& v, Standard&) { fails(v, Stage::init, 304); }},
    {"I01: 802", Reason::system_not_ready,
     [](Verdict& v, Standard&) { fails(v, Stage::init, 802); }},
    {"I08: 803", Reason::driver_mismatch,
     [](Verdict& v, Standard&) { fails(v, Stage::init, 803); }},
    {"I11: 804", Reason::compat_unsupported,
     [](Verdict& v, Standard&) { fails(v, Stage::init, 804); }},
    {"the first MPS code", Reason::mps_error,
     [](Verdict& v, Standard&) { fails(v, Stage::init, 805); }},
    {"the last MPS code", Reason::mps_error,
     [](Verdict& v, Standard&) { fails(v, Stage::context, 810); }},
    {"the code behind MPS", Reason::driver_error,
     [](Verdict& v, Standard&) { fails(v, Stage::context, 811); }},
    {"I12, G15: 999", Reason::unknown_error,
     [](Verdict& v, Standard&) { fails(v, Stage::context, 999); }},
    {"999 before the mode is known", Reason::unknown_error,
     [](Verdict& v, Standard&) { fails(v, Stage::init, 999); }},
    {"101", Reason::driver_error, [](Verdict& v, Standard&) { fails(v, Stage::context, 101); }},
    {"a code from the future", Reason::driver_error,
     [](Verdict& v, Standard&) { fails(v, Stage::context, 4321); }},
    {"a negative code", Reason::driver_error,
     [](Verdict& v, Standard&) { fails(v, Stage::context, -5); }},
    {"220", Reason::execution_fault, [](Verdict& v, Standard&) { fails(v, Stage::set, 220); }},
    {"226", Reason::execution_fault, [](Verdict& v, Standard&) { fails(v, Stage::set, 226); }},
    {"700", Reason::execution_fault, [](Verdict& v, Standard&) { fails(v, Stage::set, 700); }},
    {"715", Reason::execution_fault, [](Verdict& v, Standard&) { fails(v, Stage::copy, 715); }},
    {"719", Reason::execution_fault, [](Verdict& v, Standard&) { fails(v, Stage::copy, 719); }},
    {"709 is none of the faults", Reason::driver_error,
     [](Verdict& v, Standard&) { fails(v, Stage::copy, 709); }},
    {"H01: the time was up", Reason::timeout,
     [](Verdict& v, Standard&) {
         v.ending = Ending::timed_out;
         v.evidence.stage = Stage::init;
     }},
    {"the time was up, whatever came before", Reason::timeout,
     [](Verdict& v, Standard&) {
         v.ending = Ending::timed_out;
         fails(v, Stage::destroy, 214);
     }},
    {"a signal", Reason::crashed,
     [](Verdict& v, Standard&) {
         v.ending = Ending::killed;
         v.signal = SIGSEGV;
     }},
    {"the job's memory limit", Reason::memory_limit,
     [](Verdict& v, Standard&) {
         v.ending = Ending::memory_limit;
         v.signal = SIGKILL;
     }},
    {"a probe that was not started", Reason::probe_failed,
     [](Verdict& v, Standard&) { v.ending = Ending::not_started; }},
    {"a probe that spoke out of turn", Reason::probe_failed,
     [](Verdict& v, Standard&) { v.ending = Ending::broke_protocol; }},
    {"a status, after all had passed", Reason::probe_failed,
     [](Verdict& v, Standard&) { v.exit_code = 1; }},
    {"a good end before the last stage", Reason::probe_failed,
     [](Verdict& v, Standard&) { v.evidence.stage = Stage::destroy; }},
    {"a good end that said nothing", Reason::probe_failed,
     [](Verdict& v, Standard&) { v.evidence = Evidence{}; }},
    {"a usable GPU without a UUID", Reason::probe_failed,
     [](Verdict& v, Standard&) { v.evidence.uuid.clear(); }},
    {"a count that was never told", Reason::driver_error,
     [](Verdict& v, Standard&) { v.evidence.count = -1; }},
    {"a list: several GPUs, no memory looked at", Reason::usable,
     [](Verdict& v, Standard& s) {
         s = {80 * kGiB, CheckKind::list};
         v.evidence.count = 4;
         v.evidence.uuid.clear();
         v.evidence.free = 0;
     }},
    {"a list: none", Reason::not_visible,
     [](Verdict& v, Standard& s) {
         s.kind = CheckKind::list;
         v.evidence.count = 0;
     }},
    {"a list: a count that was never told", Reason::probe_failed,
     [](Verdict& v, Standard& s) {
         s.kind = CheckKind::list;
         v.evidence.count = -1;
     }},
    {"NVML was asked: no GPU is needed for that", Reason::usable,
     [](Verdict& v, Standard& s) {
         s.kind = CheckKind::evidence;
         v.evidence.count = -1;
         v.evidence.uuid.clear();
     }},
    {"NVML was asked, and the probe crashed", Reason::crashed,
     [](Verdict& v, Standard& s) {
         s.kind = CheckKind::evidence;
         v.ending = Ending::killed;
     }},
    {"NVML did not come back", Reason::probe_failed,
     [](Verdict& v, Standard& s) {
         s.kind = CheckKind::evidence;
         v.evidence.stage = Stage::evidence;
     }},
    {"I16: a list that fails together", Reason::unknown_error,
     [](Verdict& v, Standard& s) {
         s.kind = CheckKind::list;
         fails(v, Stage::init, 999);
     }},
};

START_TEST(evidence_adds_up_to_a_reason)
{
    const Case& row = kCases[_i];
    Verdict verdict = passed();
    Standard standard;
    row.change(verdict, standard);
    same_text(row.name, name(judge(verdict, standard)), name(row.want));
    // What the probe thinks of itself does not count.
    verdict.reason = Reason::usable;
    same_text(row.name, name(judge(verdict, standard)), name(row.want));
}
END_TEST

/// A GPU is good only when everything says so: no single bad sign goes through.
START_TEST(no_result_but_success_is_usable)
{
    for (int result = -1000; result < 2000; ++result) {
        for (std::size_t stage = 0; stage < kStageCount; ++stage) {
            Verdict verdict = passed();
            verdict.evidence.stage = static_cast<Stage>(stage);
            verdict.evidence.result = result;
            const bool good = result == cuda::kSuccess && verdict.evidence.stage == Stage::done;
            ck_assert_msg((judge(verdict, Standard{}) == Reason::usable) == good, "%d in %s",
                          result, activity(verdict.evidence.stage));
        }
    }
}
END_TEST

START_TEST(kinds_of_checks_have_names)
{
    for (const char* text : {"work", "list", "evidence"}) {
        const auto kind = check_kind_from_name(text);
        ck_assert_msg(kind.has_value(), "%s", text);
        same_text(text, name(*kind), text);
    }
    ck_assert(!check_kind_from_name(""));
    ck_assert(!check_kind_from_name("Work"));
}
END_TEST

START_TEST(only_busy_and_not_ready_may_pass)
{
    for (const ReasonInfo& row : all_reasons()) {
        const std::string code = row.name;
        const bool want =
            code == "BUSY_EXCLUSIVE" || code == "UNAVAILABLE" || code == "SYSTEM_NOT_READY";
        ck_assert_msg(may_pass(row.reason) == want, "%s", row.name);
    }
}
END_TEST

}  // namespace

Suite* judge_suite()
{
    return suite_of("judge", {{evidence_adds_up_to_a_reason, std::size(kCases)},
                              {no_result_but_success_is_usable},
                              {kinds_of_checks_have_names},
                              {only_busy_and_not_ready_may_pass}});
}

}  // namespace auto_gpus::unit
