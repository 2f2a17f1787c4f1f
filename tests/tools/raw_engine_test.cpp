#include "support/catch.hpp"
#include "transport/byte_ring.hpp"
#include "transport/engine.hpp"
#include "transport/raw_socket.hpp"
#include "transport/workload.hpp"

#include <limits>
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

TEST_CASE("a run of raw tells which chunks and socket buffers were best", "[tools][engine]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    const std::string setup = raw_engines({0.01})[0].run(large_messages(transport)).setup;
    CHECK_THAT(setup, Contains("KiB chunks, ") || Contains("1 MiB chunks, "));
    CHECK_THAT(setup,
               Contains("the system's buffers") || Contains(size_name(given_buffers(transport, 4 * 1024 * 1024).send)));
}

TEST_CASE("a run of raw over inproc tells how large the ring really was", "[tools][engine]") {
    CHECK_THAT(raw_engines({0.01})[0].run(large_messages(Transport::inproc)).setup, Contains(" ring"));
    Workload work = large_messages(Transport::inproc);
    work.size = 4 * 1024 * 1024;
    work.messages = 8;
    CHECK(raw_engines({0.01, work.messages})[0].run(work).setup == "32 MiB ring");  // with room for four, and for sizes
    CHECK(ByteRing::capacity_for(8 * 1024 * 1024, 64) == 8 * 1024 * 1024);
}

TEST_CASE("the buffers that raw names are those that the kernel gives", "[tools][engine]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    constexpr int moderate = 64 * 1024;
    CHECK(given_buffers(transport, moderate).send == moderate);
    CHECK(given_buffers(transport, moderate).receive == moderate);
    constexpr int too_much = std::numeric_limits<int>::max();
    CHECK(given_buffers(transport, too_much).send < too_much);
    CHECK(given_buffers(transport, too_much).receive < too_much);
}

TEST_CASE("raw is no ceiling of what is sealed", "[tools][engine]") {
    Workload work;
    CHECK(raw_engines({0.01})[0].can(work));
    work.curve = true;
    CHECK_FALSE(raw_engines({0.01})[0].can(work));
}
