#include "src/base/io.hpp"

#include <signal.h>
#include <sys/resource.h>

#include "tests/unit/base_suites.hpp"
#include "tests/unit/processes.hpp"

namespace auto_gpus::unit {
namespace {

Pipe a_pipe()
{
    auto made = make_pipe();
    ck_assert(static_cast<bool>(made));
    return std::move(made).value();
}

void put(const UniqueFd& descriptor, const std::string& text)
{
    ck_assert_int_eq(::write(descriptor.get(), text.data(), text.size()),
                     static_cast<int>(text.size()));
}

/// The reader's lines, each in brackets.
std::string lines_of(LineReader& reader)
{
    std::string all;
    std::string line;
    while (reader.next(line)) {
        all += "[" + line + "]";
    }
    return all;
}

int open_descriptors()
{
    int count = 0;
    for (int descriptor = 0; descriptor < 1024; ++descriptor) {
        count += ::fcntl(descriptor, F_GETFD) >= 0 ? 1 : 0;
    }
    return count;
}

START_TEST(a_pipe_stays_here_and_out_of_the_way)
{
    const Pipe pipe = a_pipe();
    ck_assert_int_ge(pipe.read.get(), 10);
    ck_assert_int_ge(pipe.write.get(), 10);
    ck_assert_int_eq(::fcntl(pipe.read.get(), F_GETFD), FD_CLOEXEC);
    ck_assert_int_eq(::fcntl(pipe.write.get(), F_GETFD), FD_CLOEXEC);
    ck_assert_int_ne(::fcntl(pipe.read.get(), F_GETFL) & O_NONBLOCK, 0);
    ck_assert_int_eq(::fcntl(pipe.write.get(), F_GETFL) & O_NONBLOCK, 0);
}
END_TEST

struct Limit {
    const char* name;
    bool none;  // no descriptor is left at all; else those below 10 alone
};
constexpr Limit kLimits[] = {{"no descriptor is left", true}, {"none above 9 is left", false}};

START_TEST(a_pipe_that_cannot_be_made_leaves_nothing_open)
{
    const int before = open_descriptors();
    rlimit limit{};
    ck_assert_int_eq(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    const rlimit lowered{kLimits[_i].none ? 0U : 10U, limit.rlim_max};
    ck_assert_int_eq(::setrlimit(RLIMIT_NOFILE, &lowered), 0);
    const auto pipe = make_pipe();
    ck_assert_int_eq(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_msg(!pipe, "%s", kLimits[_i].name);
    ck_assert(pipe.error().fault == Fault::system_call);
    ck_assert(!pipe.error().remedy.empty());
    ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

START_TEST(a_descriptor_has_one_owner)
{
    Pipe pipe = a_pipe();
    const int number = pipe.write.get();
    UniqueFd moved = std::move(pipe.write);
    ck_assert_int_eq(moved.get(), number);
    UniqueFd other(::dup(number));
    const int closed = other.get();
    other = std::move(moved);
    ck_assert_int_eq(::fcntl(closed, F_GETFD), -1);
    ck_assert_int_eq(other.release(), number);
    ck_assert(!other);
    {
        const UniqueFd last(number);
    }
    ck_assert_int_eq(::fcntl(number, F_GETFD), -1);
}
END_TEST

START_TEST(lines_come_one_by_one)
{
    const Pipe pipe = a_pipe();
    LineReader reader(100);
    ck_assert(reader.fill(pipe.read.get()) == LineReader::State::open);
    same_text("nothing yet", lines_of(reader), "");
    put(pipe.write, "one\ntwo\n\nthree\nfo");
    ck_assert(reader.fill(pipe.read.get()) == LineReader::State::open);
    same_text("many in one read", lines_of(reader), "[one][two][][three]");
    put(pipe.write, "u");
    ck_assert(reader.fill(pipe.read.get()) == LineReader::State::open);
    same_text("a part", lines_of(reader), "");
    put(pipe.write, "r\nfive\n");
    ck_assert(reader.fill(pipe.read.get()) == LineReader::State::open);
    same_text("the parts together", lines_of(reader), "[four][five]");
}
END_TEST

START_TEST(lines_may_wait_while_more_comes)
{
    const Pipe pipe = a_pipe();
    LineReader reader(10);
    std::string line;
    put(pipe.write, "a\nb\nc\n");
    ck_assert(reader.fill(pipe.read.get()) == LineReader::State::open);
    ck_assert(reader.next(line));
    put(pipe.write, "d\n");
    ck_assert(reader.fill(pipe.read.get()) == LineReader::State::open);
    same_text("the first", line, "a");
    same_text("the rest", lines_of(reader), "[b][c][d]");
}
END_TEST

START_TEST(a_hang_up_leaves_the_whole_lines)
{
    Pipe pipe = a_pipe();
    LineReader reader(100);
    put(pipe.write, "last words\nand a part");
    pipe.write.reset();
    ck_assert(reader.fill(pipe.read.get()) == LineReader::State::closed);
    same_text("lines", lines_of(reader), "[last words]");
    ck_assert(reader.fill(pipe.read.get()) == LineReader::State::closed);
}
END_TEST

struct Long {
    const char* name;
    const char* text;
    LineReader::State want;
};
constexpr Long kLongs[] = {
    {"as long as allowed", "12345678\n", LineReader::State::open},
    {"as long as allowed, not ended", "12345678", LineReader::State::open},
    {"longer, not ended", "123456789", LineReader::State::broken},
    {"longer, after a good one", "1\n123456789", LineReader::State::broken},
    {"many short ones, longer together", "1234\n5678\n9012\n", LineReader::State::open},
    {"longer, ended", "123456789\n", LineReader::State::broken},
    {"longer, ended, before a good one", "123456789\n1\n", LineReader::State::broken},
};

START_TEST(a_line_that_is_too_long_breaks_the_protocol)
{
    const Long& row = kLongs[_i];
    const Pipe pipe = a_pipe();
    LineReader reader(8);
    put(pipe.write, row.text);
    ck_assert_msg(reader.fill(pipe.read.get()) == row.want, "%s", row.name);
}
END_TEST

START_TEST(one_call_reads_a_bounded_amount)
{
    constexpr std::size_t kAll = std::size_t{300} * 1024;
    const Pipe pipe = a_pipe();
    ck_assert_int_ge(::fcntl(pipe.write.get(), F_SETPIPE_SZ, 1 << 20), 1 << 20);
    std::string text;
    while (text.size() < kAll) {
        text += std::string(99, 'x') + "\n";
    }
    put(pipe.write, text);
    LineReader reader(100);
    ck_assert(reader.fill(pipe.read.get()) == LineReader::State::open);
    std::size_t lines = 0;
    std::string line;
    while (reader.next(line)) {
        ck_assert_uint_eq(line.size(), 99);
        ++lines;
    }
    ck_assert_uint_le(lines, 70000 / 100);
    for (int call = 0; call < 10 && reader.fill(pipe.read.get()) == LineReader::State::open;
         ++call) {
        while (reader.next(line)) {
            ++lines;
        }
    }
    ck_assert_uint_eq(lines, text.size() / 100);
}
END_TEST

START_TEST(a_descriptor_that_cannot_be_read_is_broken)
{
    const Pipe pipe = a_pipe();
    LineReader reader(8);
    ck_assert(reader.fill(pipe.write.get()) == LineReader::State::broken);
    ck_assert(reader.fill(-1) == LineReader::State::broken);
}
END_TEST

START_TEST(a_full_pipe_ends_writing_at_the_deadline)
{
    const Pipe pipe = a_pipe();
    const std::string more_than_fits(1 << 20, 'x');
    ck_assert(!write_until(pipe.write.get(), more_than_fits, Deadline::after(milliseconds(1))));
    ck_assert_int_eq(::fcntl(pipe.write.get(), F_GETFL) & O_NONBLOCK, 0);
    ck_assert(!write_until(pipe.write.get(), "x", Deadline(TimePoint{})));
}
END_TEST

START_TEST(writing_to_a_closed_pipe_fails)
{
    ::signal(SIGPIPE, SIG_IGN);
    Pipe pipe = a_pipe();
    pipe.read.reset();
    ck_assert(!write_until(pipe.write.get(), "x", Deadline::after(std::chrono::hours(1))));
    ck_assert(!write_until(-1, "x", Deadline::after(milliseconds(1))));
    ck_assert(write_until(-1, "", Deadline::after(milliseconds(1))));
}
END_TEST

START_TEST(a_slow_reader_gets_everything)
{
    std::string text;
    for (int i = 0; text.size() < (1U << 20U); ++i) {
        text += std::to_string(i) + "\n";
    }
    Pipe pipe = a_pipe();
    const pid_t writer = ::fork();
    if (writer == 0) {
        const Deadline deadline = Deadline::after(std::chrono::minutes(1));
        ::_exit(write_until(pipe.write.get(), text, deadline) ? 0 : 1);
    }
    pipe.write.reset();
    ck_assert(read_to_end(pipe.read.get()) == text);
    int status = -1;
    ck_assert_int_eq(::waitpid(writer, &status, 0), writer);
    ck_assert_int_eq(status, 0);
}
END_TEST

}  // namespace

Suite* io_suite()
{
    return suite_of("io", {{a_pipe_stays_here_and_out_of_the_way},
                           {a_pipe_that_cannot_be_made_leaves_nothing_open, std::size(kLimits)},
                           {a_descriptor_has_one_owner},
                           {lines_come_one_by_one},
                           {lines_may_wait_while_more_comes},
                           {a_hang_up_leaves_the_whole_lines},
                           {a_line_that_is_too_long_breaks_the_protocol, std::size(kLongs)},
                           {one_call_reads_a_bounded_amount},
                           {a_descriptor_that_cannot_be_read_is_broken},
                           {a_full_pipe_ends_writing_at_the_deadline},
                           {writing_to_a_closed_pipe_fails},
                           {a_slow_reader_gets_everything}});
}

}  // namespace auto_gpus::unit
