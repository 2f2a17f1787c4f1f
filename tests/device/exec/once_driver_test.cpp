#include "exec_fixture.hpp"

#include <poll.h>

#include <csignal>
#include <stdexcept>
#include <thread>

using namespace telegate;
using namespace telegate::test;

namespace {

/// Requires that a read fails with a text that contains `what`.
void require_failure(DriverBench& bench, const std::string& what) {
    const ReadResult result = bench.read();
    CAPTURE(bench.what);
    REQUIRE(result.status == ReadResult::Status::failed);
    CHECK(bench.what.find(what) != std::string::npos);
}

}  // namespace

TEST_CASE("a command runs in each read, and its lines are samples", "[device][exec]") {
    const ScratchDir dir;
    DriverBench bench(make_exec_driver(
        shell_command("echo run >> " + dir.path("log") + "; echo \"t=21.5 n=$(wc -l < " + dir.path("log") + ")\"")));
    CHECK(bench.driver().traits().own_thread);
    CHECK_FALSE(bench.driver().traits().streams);
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("t").value.real == 21.5);
    CHECK(bench.sample_of("n").value.integer == 1);
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("n").value.integer == 2);
}

TEST_CASE("without a shell, the words of a command are passed literally", "[device][exec]") {
    ExecDriverOptions options;
    options.command = "printf '%s=%s\\n' a 1 'b' \"2\"";
    DriverBench bench(make_exec_driver(options));
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("a").value.integer == 1);
    CHECK(bench.sample_of("b").value.integer == 2);
}

TEST_CASE("a last line without a line end counts when the command exits", "[device][exec]") {
    DriverBench bench(make_exec_driver(shell_command("printf a=1")));
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("a").value.integer == 1);
}

TEST_CASE("values that a run does not print are absent", "[device][exec]") {
    const ScratchDir dir;
    DriverBench bench(
        make_exec_driver(shell_command("test -e " + dir.path("f") + " || echo a=1; echo b=2; touch " + dir.path("f"))));
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("a").quality == Quality::good);
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("a").quality == Quality::bad);
    CHECK(bench.sample_of("b").quality == Quality::good);
    CHECK(bench.sample_of("lines.refused").value.integer == 0);
}

TEST_CASE("JSON lines are read", "[device][exec]") {
    ExecDriverOptions options = shell_command("echo '{\"a\":{\"b\":1.5}}'; echo oops");
    options.json.emplace();
    DriverBench bench(make_exec_driver(options));
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("a.b").value.real == 1.5);
    CHECK(bench.sample_of("lines.refused").value.integer == 1);
}

TEST_CASE("the exit status is reported with the last line of stderr", "[device][exec]") {
    DriverBench bench(make_exec_driver(shell_command("echo a=1; echo one >&2; echo no sensor >&2; exit 3")));
    require_failure(bench, "exited with status 3: no sensor");
    CHECK(bench.sample_of("a").value.integer == 1);  // the run did print that
}

TEST_CASE("last lines that are not UTF-8 are made printable", "[device][exec]") {
    DriverBench bench(make_exec_driver(shell_command("printf 'a\\377b' >&2; exit 1")));
    require_failure(bench, "exited with status 1: a?b");
}

TEST_CASE("the signal that ended a command is reported", "[device][exec]") {
    DriverBench bench(make_exec_driver(shell_command("kill -SEGV $$")));
    require_failure(bench, "killed by SIGSEGV");
}

TEST_CASE("a missing command is a failed reading, and is tried again", "[device][exec]") {
    const ScratchDir dir;
    ExecDriverOptions options;
    options.command = dir.path("sensor");
    DriverBench bench(make_exec_driver(options));
    require_failure(bench, "sensor: execve: No such file or directory");
    std::ofstream(dir.path("sensor")) << "#!/bin/sh\necho a=1\n";
    require_failure(bench, "sensor: execve: Permission denied");
    std::filesystem::permissions(dir.path("sensor"), std::filesystem::perms::owner_all);
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("a").value.integer == 1);
}

TEST_CASE("a program that is not in PATH is reported", "[device][exec]") {
    ExecDriverOptions options;
    options.command = "telegate-no-such-program";
    DriverBench bench(make_exec_driver(options));
    require_failure(bench, "telegate-no-such-program: no such program in PATH");
}

TEST_CASE("a missing working directory is reported", "[device][exec]") {
    ExecDriverOptions options = shell_command("true");
    options.working_directory = "/nonexistent/folder";
    DriverBench bench(make_exec_driver(options));
    require_failure(bench, "working_directory /nonexistent/folder: No such file or directory");
}

TEST_CASE("a hanging command is ended after its timeout", "[device][exec]") {
    const ScratchDir dir;
    ExecDriverOptions options = shell_command("echo $$ > " + dir.path("pid") + "; echo waiting >&2; sleep 600");
    options.timeout = std::chrono::milliseconds(300);
    DriverBench bench(make_exec_driver(options));
    require_failure(bench, "did not end within 300 ms");
    CHECK_FALSE(is_there(number_in(dir.path("pid"))));
}

TEST_CASE("a command that ignores SIGTERM is killed", "[device][exec]") {
    const ScratchDir dir;
    ExecDriverOptions options =
        shell_command("trap '' TERM; echo $$ > " + dir.path("pid") + "; while true; do sleep 1; done");
    options.timeout = std::chrono::milliseconds(500);
    DriverBench bench(make_exec_driver(options));
    require_failure(bench, "did not end within 500 ms");
    CHECK_FALSE(is_there(number_in(dir.path("pid"))));
}

TEST_CASE("a run with endless output is ended", "[device][exec]") {
    ExecDriverOptions options = shell_command("yes a=1");
    options.output_bytes_max = 100'000;
    DriverBench bench(make_exec_driver(options));
    require_failure(bench, "printed more than 100000 bytes");
    CHECK(bench.samples_of("a").size() >= 20'000);
    CHECK(bench.samples_of("a").size() < 200'000);
}

TEST_CASE("a run with endless output to stderr is ended", "[device][exec]") {
    ExecDriverOptions options = shell_command("yes >&2");
    options.output_bytes_max = 100'000;
    DriverBench bench(make_exec_driver(options));
    require_failure(bench, "printed more than 100000 bytes");
}

TEST_CASE("a command with only invalid lines is a failed reading", "[device][exec]") {
    DriverBench bench(make_exec_driver(shell_command("echo nonsense")));
    require_failure(bench, "all lines refused");
    CHECK(bench.sample_of("lines.refused").value.integer == 1);
}

TEST_CASE("a command that prints nothing and exits with status 0 is a good reading", "[device][exec]") {
    DriverBench bench(make_exec_driver(shell_command("true")));
    CHECK(bench.reads_ok());
}

TEST_CASE("a grandchild that keeps the output open does not delay the reading, and is killed", "[device][exec]") {
    const ScratchDir dir;
    DriverBench bench(
        make_exec_driver(shell_command("echo a=1; (trap '' TERM; sleep 600) & echo $! > " + dir.path("pid"))));
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("a").value.integer == 1);
    const int grandchild = number_in(dir.path("pid"));
    CHECK(eventually([&] { return !runs(grandchild); }));
}

TEST_CASE("a command that closes its output but keeps running is ended after its timeout", "[device][exec]") {
    ExecDriverOptions options = shell_command("echo a=1; exec >&- 2>&-; sleep 600");
    options.timeout = std::chrono::milliseconds(500);
    DriverBench bench(make_exec_driver(options));
    require_failure(bench, "did not end within 500 ms");
    CHECK(bench.sample_of("a").value.integer == 1);
}

TEST_CASE("the cancel signal ends a run, and the next read starts a new one", "[device][exec]") {
    const ScratchDir dir;
    DriverBench bench(
        make_exec_driver(shell_command("trap '' TERM; test -e " + dir.path("pid") + " && echo a=1 && exit; echo $$ > " +
                                       dir.path("pid") + "; while true; do sleep 1; done")));
    std::thread canceller([&] {
        (void)number_in(dir.path("pid"));
        bench.cancel.set();
    });
    CHECK(bench.read().status == ReadResult::Status::interrupted);
    canceller.join();
    CHECK(bench.read().status == ReadResult::Status::interrupted);
    CHECK_FALSE(is_there(number_in(dir.path("pid"))));
    bench.cancel.clear();
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("a").value.integer == 1);
}

TEST_CASE("a command has its own environment, no input and no other descriptors", "[device][exec]") {
    ::setenv("TELEGATE_TEST_SECRET", "1", 1);
    ExecDriverOptions options = shell_command(
        "echo \"own=$OWN path=${PATH:+1} secret=${TELEGATE_TEST_SECRET:-0}\"; echo input=$(wc -c);"
        "echo fds=$(ls /proc/self/fd | wc -l); echo home=$HOME; echo folder=$(pwd)");
    options.environment = {"OWN=7", "HOME=here"};
    options.working_directory = "/usr";
    const int extra = ::dup(STDERR_FILENO);  // not close-on-exec
    DriverBench bench(make_exec_driver(options));
    REQUIRE(bench.reads_ok());
    ::close(extra);
    CHECK(bench.sample_of("own").value.integer == 7);
    CHECK(bench.sample_of("path").value.integer == 1);
    CHECK(bench.sample_of("secret").value.integer == 0);
    CHECK(bench.sample_of("input").value.integer == 0);
    CHECK(bench.sample_of("fds").value.integer == 4);  // the standard streams, and that of ls itself
    CHECK(bench.sample_of("home").text() == "here");
    CHECK(bench.sample_of("folder").text() == "/usr");
    ::unsetenv("TELEGATE_TEST_SECRET");
}

TEST_CASE("a command has no signal blocked or ignored", "[device][exec]") {
    // As in the gateway, which waits for its signals on one thread.
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    sigset_t blocked;
    sigset_t mask;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &blocked, &mask);
    ExecDriverOptions options;
    options.command = "sed -n 's/^\\(Sig[BI][lg][kn]\\):[^0-9a-f]*/\\1=x/p' /proc/self/status";
    DriverBench bench(make_exec_driver(options));
    const bool is_ok = bench.reads_ok();
    ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    (void)std::signal(SIGPIPE, before);
    REQUIRE(is_ok);
    CHECK(bench.sample_of("sigblk").text() == "x0000000000000000");
    CHECK(bench.sample_of("sigign").text() == "x0000000000000000");
}

TEST_CASE("resource limits apply to a command", "[device][exec]") {
    ExecDriverOptions options = shell_command("echo mem=$(ulimit -v) cpu=$(ulimit -t) core=$(ulimit -c)");
    options.memory_max_bytes = 1'073'741'824;
    options.cpu_seconds_max = 7;
    DriverBench bench(make_exec_driver(options));
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("mem").value.integer == 1'048'576);
    CHECK(bench.sample_of("cpu").value.integer == 7);
    CHECK(bench.sample_of("core").value.integer == 0);
}

TEST_CASE("runs leave no descriptors and no processes", "[device][exec]") {
    const std::size_t before = open_descriptors();
    {
        DriverBench bench(make_exec_driver(shell_command("echo a=1; echo b >&2")));
        for (int run = 0; run < 20; ++run) {
            REQUIRE(bench.reads_ok());
        }
        ExecDriverOptions options;
        options.command = "/nonexistent/program";
        DriverBench absent(make_exec_driver(options));
        CHECK_FALSE(absent.reads_ok());
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("invalid options of a command are reported", "[device][exec]") {
    const auto refuses = [](auto change, const std::string& word) {
        ExecDriverOptions options = shell_command("true");
        change(options);
        try {
            (void)make_exec_driver(options);
        } catch (const std::invalid_argument& error) {
            CAPTURE(error.what());
            return std::string(error.what()).find(word) != std::string::npos;
        }
        return false;
    };
    CHECK(refuses([](auto& o) { o.command = ""; }, "command"));
    CHECK(refuses([](auto& o) { o.command = "a 'b", o.shell = false; }, "quote"));
    CHECK(refuses([](auto& o) { o.environment = {"=x"}; }, "NAME=VALUE"));
    CHECK(refuses([](auto& o) { o.environment = {"x"}; }, "NAME=VALUE"));
    CHECK(refuses([](auto& o) { o.working_directory = "relative"; }, "working_directory"));
    CHECK(refuses([](auto& o) { o.lines.kind = LineFormat::Kind::csv; }, "columns"));
}
