#include "src/core/detail.hpp"

#include <signal.h>

#include "src/core/nvml_note.hpp"
#include "tests/unit/core_suites.hpp"
#include "tests/unit/story.hpp"

namespace auto_gpus::unit {
namespace {

struct Detail {
    const char* name;
    const char* want;
    void (*change)(Story& story);
};
const Detail kDetails[] = {
    {"usable", "0.31 s", [](Story&) {}},
    {"A01",
     "cuCtxCreate: CUDA_ERROR_DEVICE_UNAVAILABLE (46): in use by another process, "
     "exclusive-process mode",
     [](Story& s) { s.fails(0, Reason::busy_exclusive, Stage::context, 46); }},
    {"A11", "cuCtxCreate: CUDA_ERROR_DEVICE_UNAVAILABLE (46): the driver says busy or unavailable",
     [](Story& s) { s.fails(0, Reason::unavailable, Stage::context, 46); }},
    {"L02",
     "cuCtxCreate: CUDA_ERROR_DEVICE_UNAVAILABLE (46): the driver says busy or unavailable; "
     "look at the MPS daemon of CUDA_MPS_PIPE_DIRECTORY=/tmp/mps",
     [](Story& s) {
         s.mps_pipe = "/tmp/mps";
         s.fails(0, Reason::unavailable, Stage::context, 46);
     }},
    {"L04",
     "no answer in 60 s, last seen in cuCtxCreate; look at the MPS daemon of "
     "CUDA_MPS_PIPE_DIRECTORY=/tmp/mps",
     [](Story& s) {
         s.mps_pipe = "/tmp/mps";
         s.says(0, Reason::timeout).evidence.stage = Stage::context;
     }},
    {"H01", "no answer in 10 s, last seen in cuInit",
     [](Story& s) {
         s.settings.timeout = std::chrono::seconds(10);
         s.says(0, Reason::timeout).evidence.stage = Stage::init;
     }},
    {"H02: with the pid",
     "no answer in 60 s, last seen in cuInit; process 4711 did not end on SIGKILL: "
     "the step's end may wait for Slurm's UnkillableStepTimeout, and the node may be "
     "drained then",
     [](Story& s) {
         s.says(0, Reason::timeout).evidence.stage = Stage::init;
         s.at(0).stuck_pid = 4711;
     }},
    {"undecided", "no answer in 0.9 s", [](Story& s) { s.says(0, Reason::undecided); }},
    {"a crash", "killed by SIGBUS in loading libcuda",
     [](Story& s) {
         s.says(0, Reason::crashed).signal = SIGBUS;
         s.at(0).evidence.stage = Stage::load;
     }},
    {"not visible", "the driver does not show it",
     [](Story& s) { s.fails(0, Reason::not_visible, Stage::init, 100); }},
    {"D07: past the end",
     "the driver shows 1 GPU; a lost GPU, or an absolute index inside a device cgroup?",
     [](Story& s) {
         s.says(0, Reason::not_visible);
         s.surveyed(1);
     }},
    {"G10: the index is not past the end", "the driver shows 8 GPUs",
     [](Story& s) {
         s.says(0, Reason::not_visible);
         s.surveyed(8);
     }},
    {"a survey without an answer", "the driver does not show it",
     [](Story& s) {
         s.says(0, Reason::not_visible);
         s.surveyed(-1);
         s.watch.survey.verdict->reason = Reason::timeout;
     }},
    {"D03", "the driver shows 4 GPUs; unknown or ambiguous name among them",
     [](Story& s) {
         s.list = list_of("GPU-4ba9dbe6");
         s.says(0, Reason::not_visible);
         s.surveyed(4);
     }},
    {"min-free", "1.0 GiB of 80.0 GiB free, at least 20.0 GiB asked for",
     [](Story& s) {
         s.settings.min_free = 20 * kGiB;
         s.says(0, Reason::low_memory);
         s.knows(0).evidence.free = kGiB;
     }},
    {"G06",
     "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2) although 79.0 GiB of 80.0 GiB free: likely "
     "a bad GPU or a limit",
     [](Story& s) {
         s.fails(0, Reason::out_of_memory, Stage::allocate, 2);
         s.knows(0);
     }},
    {"2 before the memory is known",
     "cuCtxCreate: CUDA_ERROR_OUT_OF_MEMORY (2); likely a full "
     "GPU, a bad GPU, or a limit",
     [](Story& s) { s.fails(0, Reason::out_of_memory, Stage::context, 2); }},
    {"a wrong result",
     "byte 4096 of 16 MiB: 0xa5c30f68 read, 0xa5c30f69 set, bits 0x00000001 "
     "differ",
     [](Story& s) {
         Evidence& evidence = s.says(0, Reason::wrong_result).evidence;
         evidence.mismatch_offset = 4096;
         evidence.expected = 0xa5c30f69;
         evidence.found = 0xa5c30f68;
     }},
    {"715",
     "cuMemcpyDtoH: CUDA_ERROR_ILLEGAL_INSTRUCTION (715): our own work on the GPU failed; "
     "likely a bad GPU",
     [](Story& s) { s.fails(0, Reason::execution_fault, Stage::copy, 715); }},
    {"another code", "cuCtxCreate: CUDA_ERROR_INVALID_DEVICE (101)",
     [](Story& s) { s.fails(0, Reason::driver_error, Stage::context, 101); }},
    {"a code from the future", "cuCtxCreate: an unknown CUresult (4321)",
     [](Story& s) { s.fails(0, Reason::driver_error, Stage::context, 4321); }},
    {"a driver that ignores the list", "the driver shows 8 GPUs for this one entry",
     [](Story& s) { s.says(0, Reason::driver_error).evidence.count = 8; }},
    {"a status", "the probe ended with status 3 in cuInit",
     [](Story& s) {
         s.says(0, Reason::probe_failed).exit_code = 3;
         s.at(0).evidence.stage = Stage::init;
     }},
    {"out of turn", "the probe spoke out of turn in cuInit",
     [](Story& s) {
         s.says(0, Reason::probe_failed).ending = Ending::broke_protocol;
         s.at(0).evidence.stage = Stage::init;
     }},
    {"not started", "cannot start it: no such file",
     [](Story& s) {
         s.says(0, Reason::probe_failed).ending = Ending::not_started;
         s.at(0).evidence.load_error = "cannot start it: no such file";
     }},
    {"G16: NVML knows more",
     "cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214); NVML: the GPU "
     "requires a reset",
     [](Story& s) {
         s.fails(0, Reason::ecc_uncorrectable, Stage::context, 214);
         s.knows(0);
         s.watch.evidence.verdict = verdict_of(Reason::usable, 0);
         s.watch.evidence.verdict->evidence.notes = "0000:10:00.0 GPU-0 the GPU requires a reset";
     }},
    {"NVML has nothing to say on a good one", "0.31 s",
     [](Story& s) {
         s.watch.evidence.verdict = verdict_of(Reason::usable, 0);
         s.watch.evidence.verdict->evidence.notes = "0000:10:00.0 GPU-0 the GPU requires a reset";
     }},
};

START_TEST(a_detail_tells_what_was_seen)
{
    const Detail& row = kDetails[_i];
    Story story("3");
    row.change(story);
    same_text(row.name, detail_text(story.at(0), story.list.tokens[0], story.report()), row.want);
}
END_TEST

START_TEST(a_full_gpu_is_not_called_bad)
{
    Story story("0");
    story.fails(0, Reason::out_of_memory, Stage::allocate, 2);
    story.knows(0).evidence.free = kGiB / 2;
    const std::string text = detail_text(story.at(0), story.list.tokens[0], story.report());
    has("K02", text, "512 MiB of 80.0 GiB free");
    lacks("K02", text, "bad GPU");
    lacks("K02: little is free, and that is why", text, "although");
}
END_TEST

START_TEST(in_use_is_said_only_where_it_is_proved)
{
    for (const ReasonInfo& row : all_reasons()) {
        Story story("0");
        story.fails(0, row.reason, Stage::context, 46);
        story.knows(0);
        const std::string text = detail_text(story.at(0), story.list.tokens[0], story.report());
        lacks(row.name, text, "occupied");
        if (row.reason != Reason::busy_exclusive) {
            lacks(row.name, text, "in use");
        }
        holds(row.name, !text.empty() || row.reason == Reason::driver_missing, "says nothing");
    }
}
END_TEST

START_TEST(no_single_cause_is_named_for_802_and_999)
{
    Story story("0");
    for (const auto& [reason, result] :
         {std::pair{Reason::system_not_ready, 802}, std::pair{Reason::unknown_error, 999}}) {
        story.fails(0, reason, Stage::init, result);
        const std::string text = detail_text(story.at(0), story.list.tokens[0], story.report());
        has("likely", text, "likely causes: ");
        has("several", text, ", or a ");
    }
}
END_TEST

START_TEST(signals_have_names)
{
    same_text("SEGV", signal_text(SIGSEGV), "SIGSEGV");
    same_text("KILL", signal_text(SIGKILL), "SIGKILL");
    same_text("another", signal_text(63), "signal 63");
}
END_TEST

struct Note {
    const char* name;
    const char* notes;
    const char* pci;
    const char* want;
};
constexpr Note kNotes[] = {
    {"none", "", "0000:10:00.0", ""},
    {"of this GPU", "0000:10:00.0 GPU-0 the GPU is lost", "0000:10:00.0", "the GPU is lost"},
    {"of another GPU", "0000:11:00.0 GPU-1 the GPU is lost", "0000:10:00.0", ""},
    {"of several", "0000:11:00.0 GPU-1 lost|0000:10:00.0 GPU-0 reset", "0000:10:00.0", "reset"},
    {"K01: memory, of this GPU", "0000:10:00.0 GPU-0 78.1 GiB of its memory is used",
     "0000:10:00.0", "78.1 GiB of its memory is used"},
    {"a GPU that is not known: all faults",
     "0000:11:00.0 GPU-1 lost|- - reset|0000:12:00.0 GPU-2 8 GiB of its memory is used", "",
     "0000:11:00.0: lost, of a GPU of this node: reset"},
    {"but not of those that are spoken of elsewhere", "0000:1a:00.0 GPU-1 lost|- - reset", "",
     "of a GPU of this node: reset"},
    {"malformed ones are passed over", "|x|a b|a b |0000:10:00.0 GPU-0 lost|", "0000:10:00.0",
     "lost"},
    {"malformed alone", "nonsense", "", ""},
};

START_TEST(notes_are_found_by_their_gpu)
{
    Evidence evidence;
    evidence.pci = kNotes[_i].pci;
    same_text(kNotes[_i].name, note_for(kNotes[_i].notes, evidence, {"0000:1a:00.0"}),
              kNotes[_i].want);
}
END_TEST

}  // namespace

Suite* detail_suite()
{
    return suite_of("detail", {{a_detail_tells_what_was_seen, std::size(kDetails)},
                               {a_full_gpu_is_not_called_bad},
                               {in_use_is_said_only_where_it_is_proved},
                               {no_single_cause_is_named_for_802_and_999},
                               {signals_have_names},
                               {notes_are_found_by_their_gpu, std::size(kNotes)}});
}

}  // namespace auto_gpus::unit
