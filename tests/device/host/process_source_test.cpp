#include "host/process_source.hpp"

#include "core/topic.hpp"
#include "device/allocation_counter.hpp"
#include "host_fixture.hpp"
#include "support/catch.hpp"
#include "support/page_size.hpp"

#include <unistd.h>

#include <cstddef>
#include <stdexcept>
#include <string>

using namespace telegate;
using namespace telegate::test;
using host::parse_process_stat;
using host::ProcessSource;
using host::program_of;

namespace {

struct SimulatedProcess {
    std::string name = "worker";
    std::string program = "/usr/sbin/worker";
    char state = 'S';
    std::uint64_t ticks = 100;
    int threads = 2;
    std::uint64_t start = 500;
    int pages = 10;
    int descriptors = 3;
};

void put(HostFixture& host, int pid, const SimulatedProcess& process) {
    const std::string stem = std::to_string(pid) + '/';
    host.proc(stem + "stat", std::to_string(pid) + " (" + process.name + ") " + process.state +
                                 " 1 1 1 0 -1 4 5 6 7 8 " + std::to_string(process.ticks) + " 0 0 0 20 0 " +
                                 std::to_string(process.threads) + " 0 " + std::to_string(process.start) + " 1000 " +
                                 std::to_string(process.pages) + " 1 1\n");
    host.proc(stem + "cmdline", process.program + '\0' + "--flag" + '\0');
    for (int number = 0; number < process.descriptors; ++number) {
        host.proc(stem + "fd/" + std::to_string(number), "");
    }
}

HostDriverOptions named(std::vector<std::string> names) {
    HostDriverOptions options;
    options.processes = std::move(names);
    return options;
}

const auto ticks_per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));

const std::string rest_of_stat =
    " 1 2 3 4 5 6 7 8 9 10 120 30 0 0 20 0 7 0 98765 1000000 250 18446744073709551615 1 1 0 0\n";

}  // namespace

TEST_CASE("processes of one name are counted and added up", "[device][host]") {
    const int page = GENERATE(4'096, 16'384, 65'536);
    const PageSize page_size(static_cast<std::size_t>(page));
    HostFixture host(named({"worker"}));
    put(host, 10, {});
    put(host, 11, {.threads = 5, .start = 600, .pages = 20, .descriptors = 1});
    put(host, 12, {.name = "other", .program = "/bin/other"});
    host.open();
    host.read();
    CHECK(host.integer("proc.worker.count") == 2);
    CHECK(host.integer("proc.worker.rss") == 30 * page);
    CHECK(host.integer("proc.worker.threads") == 7);
    CHECK(host.integer("proc.worker.descriptors") == 4);
    CHECK(host.integer("proc.left_out") == 0);
    CHECK(host.is_absent("proc.worker.cpu"));  // needs two readings
    CHECK(host.unit("proc.worker.rss") == "By");
    CHECK(host.unit("proc.worker.cpu") == "%");
}

TEST_CASE("CPU time of all processes of a name since the previous read is in percent of one core", "[device][host]") {
    HostFixture host(named({"worker"}));
    put(host, 10, {.ticks = 100});
    put(host, 11, {.ticks = 200});
    host.open();
    host.read();
    put(host, 10, {.ticks = 100 + ticks_per_second});
    put(host, 11, {.ticks = 200 + ticks_per_second / 2});
    host.read(std::chrono::seconds(2));
    CHECK(host.real("proc.worker.cpu") == Approx(75.0));
    host.reset();
    host.read();
    CHECK(host.is_absent("proc.worker.cpu"));
}

TEST_CASE("a name without processes has a count of 0 and no other values", "[device][host]") {
    HostFixture host(named({"worker"}));
    host.open();
    host.read();
    CHECK(host.integer("proc.worker.count") == 0);
    CHECK(host.is_absent("proc.worker.rss"));
    CHECK(host.is_absent("proc.worker.cpu"));
}

TEST_CASE("a process also matches the name of its program, which may be longer than the kernel's", "[device][host]") {
    HostFixture host(named({"a-very-long-daemon-name", "kworker/0:1"}));
    SECTION("a name must be that of a program, without a directory") {
        CHECK_THROWS_WITH(host.open(),
                          "processes: \"kworker/0:1\"; must be the name of a program, without its directory");
    }
    SECTION("so the 15 bytes that the kernel keeps do not matter") {
        host.options().processes.pop_back();
        put(host, 10, {.name = "a-very-long-dae", .program = "/opt/a-very-long-daemon-name"});
        host.open();
        host.read();
        CHECK(host.integer("proc.a-very-long-daemon-name.count") == 1);
    }
}

TEST_CASE("a process that starts later is found within ten reads", "[device][host]") {
    HostFixture host(named({"worker"}));
    host.open();
    host.read();
    put(host, 10, {});
    for (std::uint32_t tick = 0; tick < ProcessSource::scan_ticks; ++tick) {
        host.read();
    }
    CHECK(host.integer("proc.worker.count") == 1);
}

TEST_CASE("after a process has ended, the next read searches for its successor", "[device][host]") {
    HostFixture host(named({"worker"}));
    put(host, 10, {});
    host.open();
    host.read();
    host.tree.remove("proc/10");
    put(host, 11, {});
    host.read();
    CHECK(host.integer("proc.worker.count") == 0);
    host.read();
    CHECK(host.integer("proc.worker.count") == 1);
}

TEST_CASE("another process with the PID of an ended one is not mistaken for it", "[device][host]") {
    HostFixture host(named({"worker"}));
    put(host, 10, {.ticks = 100, .start = 500});
    host.open();
    host.read();
    put(host, 10, {.name = "other", .program = "/bin/other", .ticks = 900, .start = 700});
    host.read();
    CHECK(host.integer("proc.worker.count") == 0);
    put(host, 10, {.ticks = 5'000, .start = 900});
    host.read();
    CHECK(host.integer("proc.worker.count") == 1);
    CHECK(host.is_absent("proc.worker.cpu"));  // its CPU time has no previous reading
}

TEST_CASE("a zombie does not count", "[device][host]") {
    HostFixture host(named({"worker"}));
    put(host, 10, {.state = 'Z'});
    host.open();
    host.read();
    CHECK(host.integer("proc.worker.count") == 0);
}

TEST_CASE("a sum in which a process is missing is uncertain", "[device][host]") {
    HostFixture host(named({"worker"}));
    put(host, 10, {});
    put(host, 11, {.descriptors = 0});  // no such directory, as if it may not be read
    host.open();
    host.read();
    CHECK(host.quality("proc.worker.descriptors") == Quality::uncertain);
    CHECK(host.quality("proc.worker.rss") == Quality::good);
}

TEST_CASE("a pass over many processes takes several reads, and processes beyond its limit are counted",
          "[device][host]") {
    HostFixture host(named({"worker"}));
    constexpr int beyond = 20;
    for (int pid = 1; pid <= static_cast<int>(ProcessSource::pids_max) + beyond; ++pid) {
        host.tree.make_directory("proc/" + std::to_string(pid));
    }
    host.open();
    host.read();
    CHECK(host.integer("proc.left_out") == beyond);
}

TEST_CASE("processes of a name beyond the limit are counted", "[device][host]") {
    HostFixture host(named({"worker"}));
    constexpr int beyond = 3;
    for (int pid = 1; pid <= static_cast<int>(ProcessSource::processes_max) + beyond; ++pid) {
        put(host, pid, {.descriptors = 0});
    }
    host.open();
    host.read();
    CHECK(host.integer("proc.worker.count") == static_cast<std::int64_t>(ProcessSource::processes_max));
    CHECK(host.integer("proc.left_out") == beyond);
}

TEST_CASE("if processes are hidden, a count is bad rather than 0, and the reason is reported", "[device][host]") {
    HostFixture host(named({"worker"}));
    put(host, 10, {});
    host.open();
    host.read();
    CHECK(host.text("proc.state") == "visible");
    CHECK(host.quality("proc.state") == Quality::good);
    const bool is_listed = GENERATE(false, true);  // hidepid=invisible, hidepid=noaccess
    host.tree.remove("proc/1");
    if (is_listed) {
        host.tree.make_directory("proc/1");
    }
    for (std::uint32_t tick = 0; tick < ProcessSource::scan_ticks; ++tick) {
        host.read();
    }
    for (const char* const channel : {"count", "rss", "cpu", "descriptors", "threads"}) {
        CHECK(host.is_absent(std::string("proc.worker.") + channel));
    }
    CHECK(host.is_absent("proc.left_out"));
    CHECK(host.text("proc.state") == "hidden by hidepid (ProtectProc)");
    CHECK(host.quality("proc.state") == Quality::bad);
    host.proc("1/stat", "1 (init) S 0 1 1 0 -1 4 5 6 7 8 9 0 0 0 20 0 1 0 1 1000 10 1 1\n");
    for (std::uint32_t tick = 0; tick < ProcessSource::scan_ticks; ++tick) {
        host.read();
    }
    CHECK(host.integer("proc.worker.count") == 1);
}

TEST_CASE("invalid names of processes are refused with a reason", "[device][host]") {
    CHECK_THROWS_WITH(ProcessSource("/proc", {""}),
                      "processes: \"\"; must be the name of a program, without its directory");
    CHECK_THROWS_WITH(ProcessSource("/proc", {"a", "a"}), "processes: \"a\"; must be listed only once");
    CHECK_THROWS_AS(ProcessSource("/proc", std::vector<std::string>(40, "x")), std::invalid_argument);
}

TEST_CASE("this process is found, with its memory, threads and descriptors", "[device][host]") {
    std::string name;
    std::ifstream("/proc/self/comm") >> name;
    HostFixture host(named({name}), Machine::this_one);
    host.open();
    host.read();
    const std::string stem = "proc." + to_topic_part(name) + '.';
    CHECK(host.integer(stem + "count") >= 1);
    CHECK(host.integer(stem + "rss") > 0);
    CHECK(host.integer(stem + "threads") >= 1);
    CHECK_FALSE(host.is_absent(stem + "descriptors"));
}

TEST_CASE("reading processes allocates nothing", "[device][host]") {
    HostFixture host(named({"worker"}));
    put(host, 10, {});
    put(host, 11, {});
    host.open();
    host.read();
    const std::uint64_t before = allocations();
    for (int tick = 0; tick < 50; ++tick) {
        host.read();
    }
    CHECK(allocations() == before);
}

TEST_CASE("a process is parsed from its line", "[device][host]") {
    const std::string text = "4242 (nginx) S" + rest_of_stat;
    const auto stat = parse_process_stat(text);
    REQUIRE(stat);
    CHECK(stat->name == "nginx");
    CHECK(stat->state == 'S');
    CHECK(stat->cpu_ticks == 150);
    CHECK(stat->threads == 7);
    CHECK(stat->start_ticks == 98'765);
    CHECK(stat->resident_pages == 250);
    CHECK_FALSE(stat->is_over());
}

TEST_CASE("a name with blanks and brackets does not shift the fields", "[device][host]") {
    const std::string text = "1 (a) R 1 (b c) Z" + rest_of_stat;
    const auto stat = parse_process_stat(text);
    REQUIRE(stat);
    CHECK(stat->name == "a) R 1 (b c");
    CHECK(stat->is_over());
    CHECK(stat->threads == 7);
}

TEST_CASE("a text that is not a process line is refused", "[device][host]") {
    for (const std::string text : {"", "1", "1 (a", "1 )a( S 1 2", "1 (a) S 1 2 3", "1 (a)", "1 (a) S x y z"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_process_stat(text));
    }
}

TEST_CASE("a program is the last part of the first argument", "[device][host]") {
    using namespace std::string_literals;
    CHECK(program_of("/usr/bin/python3\0/opt/x/run.py\0"s) == "python3");
    CHECK(program_of("nginx: worker process\0"s) == "nginx: worker process");
    CHECK(program_of("").empty());
    CHECK(program_of("/usr/bin/\0"s).empty());
}
