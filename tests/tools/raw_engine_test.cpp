#include "support/catch.hpp"
#include "transport/engine.hpp"

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
    const std::string setup = raw_engines()[0].run(large_messages(transport)).setup;
    CHECK_THAT(setup, Contains("KiB chunks, ") || Contains("1 MiB chunks, "));
    CHECK_THAT(setup, Contains("the system's buffers") || Contains("4 MiB buffers"));
    CHECK_THAT(raw_engines()[0].run(large_messages(Transport::inproc)).setup, Contains(" ring"));
}

TEST_CASE("raw is no ceiling of what is sealed", "[tools][engine]") {
    Workload work;
    CHECK(raw_engines()[0].can(work));
    work.curve = true;
    CHECK_FALSE(raw_engines()[0].can(work));
}
