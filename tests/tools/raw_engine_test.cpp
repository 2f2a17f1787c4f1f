#include "support/catch.hpp"
#include "transport/byte_ring.hpp"
#include "transport/workload.hpp"

#include <algorithm>
#include <vector>

using namespace telegate;
using namespace telegate::perf;

namespace {

Workload large_messages(Transport transport) {
    Workload work;
    work.transport = transport;
    work.size = 64 * 1024;
    work.messages = 100;
    return work;
}

}  // namespace

TEST_CASE("raw has variants of chunks and buffers for sockets, and of rings for inproc", "[tools][engine]") {
    const auto [transport, variants] =
        GENERATE(table<Transport, int>({{Transport::tcp, 6}, {Transport::ipc, 6}, {Transport::inproc, 5}}));
    const Workload work = large_messages(transport);
    int runs = 0;
    for (const Engine& engine : raw_engines()) {
        if (engine.can(work)) {
            CAPTURE(engine.variant);
            CHECK_NOTHROW(engine.run(work));
            ++runs;
        }
    }
    CHECK(runs == variants);
}

TEST_CASE("rings that are equally large for the size of the messages are measured once", "[tools][engine]") {
    Workload work = large_messages(Transport::inproc);
    work.size = 4 * 1024 * 1024;  // with capacity for four items and their sizes, every ring has 32 MiB
    const std::vector<Engine> engines = raw_engines();
    CHECK(std::ranges::count_if(engines, [&](const Engine& engine) { return engine.can(work); }) == 1);
    CHECK(ByteRing::capacity_for(64 * 1024, work.size) == 32 * 1024 * 1024);
    CHECK(ByteRing::capacity_for(8 * 1024 * 1024, 64) == 8 * 1024 * 1024);
}

TEST_CASE("raw is not an upper limit for encrypted messages", "[tools][engine]") {
    Workload work;
    CHECK(raw_engines()[0].can(work));
    work.curve = true;
    const std::vector<Engine> engines = raw_engines();
    CHECK(std::ranges::none_of(engines, [&](const Engine& engine) { return engine.can(work); }));
}
