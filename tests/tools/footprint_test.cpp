#include "gateway_process.hpp"
#include "support/catch.hpp"
#include "system.hpp"

#include <pthread.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace telegate::perf;

TEST_CASE("scratch settings use no port and no file that another process may use", "[tools][footprint]") {
    const std::string text =
        "# listen = 1.2.3.4:80\n[rest]\nlisten = 127.0.0.1:8080\n[publish \"a\"]\n"
        "endpoint = tcp://127.0.0.1:5556\n[publish \"b\"]\n  endpoint=ipc:///tmp/b.ipc\n"
        "[services \"c\"]\nendpoint = ipc:///tmp/c.ipc\n";
    CHECK(scratch_settings(text, "/x") ==
          "# listen = 1.2.3.4:80\n[rest]\nlisten = 127.0.0.1:0\n[publish \"a\"]\nendpoint = tcp://127.0.0.1:0\n"
          "[publish \"b\"]\nendpoint = ipc:///x/b.ipc\n[services \"c\"]\nendpoint = ipc:///x/c.ipc\n");
}

TEST_CASE("a number in a kernel file is found by its full name", "[tools][footprint]") {
    const std::string text = "nonvoluntary_ctxt_switches:\t7\nvoluntary_ctxt_switches:\t42\nName:\tx\nVmRSS:\t 12 kB\n";
    CHECK(number_after(text, "voluntary_ctxt_switches") == 42U);
    CHECK(number_after(text, "VmRSS") == 12U);
    CHECK_FALSE(number_after(text, "Name"));
    CHECK_FALSE(number_after(text, "Rss"));
}

TEST_CASE("the work of a thread is counted under its name", "[tools][footprint]") {
    const std::vector<ThreadFigures> before{{"tg-io", 10, 1, 0}, {"tg-http-0", 5, 2, 0}, {"tg-http-1", 5, 2, 1}};
    const std::vector<ThreadFigures> now{{"tg-io", 30, 5, 1}, {"tg-http-0", 6, 4, 0}, {"tg-http-1", 8, 3, 2}};
    const ThreadFigures http = since(before, now, "tg-http");
    CHECK(http.cpu_ns == 4);
    CHECK(http.wake_ups == 3);
    CHECK(http.preemptions == 1);
    CHECK(since(before, now, "").wake_ups == 7);
}

TEST_CASE("all threads of this process are found", "[tools][footprint]") {
    std::vector<ThreadFigures> threads;
    std::thread([&] {
        ::pthread_setname_np(::pthread_self(), "perf-test");
        threads = threads_of(0);
    }).join();
    CHECK(threads.size() >= 2);
    CHECK(since({}, threads, "perf-test").name == "perf-test");
    CHECK(since({}, threads, "").cpu_ns > 0);
}

TEST_CASE("the memory of this process can be read, and that of a missing process cannot", "[tools][footprint]") {
    const ProcessMemory memory = memory_of(0);
    CHECK(memory.resident_kib >= memory.anonymous_kib);
    CHECK(memory.anonymous_kib > 0);
    CHECK(memory.descriptors >= 3);
    constexpr pid_t nobody = 0x7FFF'FFFF;
    CHECK_THROWS_AS(memory_of(nobody), std::runtime_error);
    CHECK_THROWS_AS(threads_of(nobody), std::runtime_error);
}

TEST_CASE("a program that does not start is reported with its output", "[tools][footprint]") {
    CHECK_THROWS_AS(GatewayProcess({"/nonexistent", "x.ini"}), std::runtime_error);
    CHECK_THROWS_WITH(GatewayProcess({"/bin/ls", "x.ini"}), Catch::Contains("config"));
}
