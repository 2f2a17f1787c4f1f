#include "support/catch.hpp"
#include "transport/byte_ring.hpp"
#include "transport/workload.hpp"

#include <string>

using namespace telegate;
using namespace telegate::perf;
using Catch::Matchers::Contains;

namespace {

Workload large_messages(Transport transport) {
    Workload work;
    work.transport = transport;
    work.size = 64 * 1024;
    work.messages = 100;
    return work;
}

}  // namespace

TEST_CASE("a raw run reports the best chunk size and socket buffers", "[tools][engine]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    const std::string setup = raw_engines({0.01})[0].run(large_messages(transport)).setup;
    CHECK_THAT(setup, Contains("KiB chunks, ") || Contains("1 MiB chunks, "));
    CHECK_THAT(setup, Contains("default buffers") || Contains("4 MiB buffers"));
}

TEST_CASE("a raw run over inproc reports the actual size of the ring", "[tools][engine]") {
    CHECK_THAT(raw_engines({0.01})[0].run(large_messages(Transport::inproc)).setup, Contains(" ring"));
    Workload work = large_messages(Transport::inproc);
    work.size = 4 * 1024 * 1024;
    work.messages = 8;
    // with capacity for four items and their sizes
    CHECK(raw_engines({0.01, work.messages})[0].run(work).setup == "32 MiB ring");
    CHECK(ByteRing::capacity_for(8 * 1024 * 1024, 64) == 8 * 1024 * 1024);
}

TEST_CASE("raw is not a ceiling for encrypted messages", "[tools][engine]") {
    Workload work;
    CHECK(raw_engines({0.01})[0].can(work));
    work.curve = true;
    CHECK_FALSE(raw_engines({0.01})[0].can(work));
}
