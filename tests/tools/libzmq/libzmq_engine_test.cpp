#include "support/catch.hpp"
#include "tools/tap.hpp"
#include "transport/libzmq_link.hpp"

#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::perf;
using namespace telegate::test;

namespace {

Tapped tapped(Pattern pattern, bool curve) {
    Workload work;
    work.pattern = pattern;
    work.curve = curve;
    return greet_over_tap<libzmq::Link>(work, libzmq::Setup{}, libzmq::make_keys(work));
}

/// The variants that can do the work, by name.
std::vector<std::string> variants_of(const Workload& work, std::size_t io_threads) {
    std::vector<std::string> names;
    for (const Engine& engine : libzmq_engines(io_threads)) {
        if (engine.can(work)) {
            names.push_back(engine.variant);
        }
    }
    return names;
}

}  // namespace

TEST_CASE("libzmq with CURVE sends no plain text", "[tools][curve]") {
    const Tapped sealed = tapped(GENERATE(Pattern::pubsub, Pattern::router), true);
    CHECK(sealed.has_arrived);
    CHECK(mechanism_in(sealed.from_sender) == "CURVE");
    CHECK(mechanism_in(sealed.from_receiver) == "CURVE");
    CHECK_FALSE(sealed.shows_the_text());
}

TEST_CASE("libzmq without CURVE sends plain text", "[tools][curve]") {
    const Tapped open = tapped(GENERATE(Pattern::pubsub, Pattern::router), false);
    CHECK(mechanism_in(open.from_sender) == "NULL");
    CHECK(open.shows_the_text());
}

TEST_CASE("every variant of libzmq that can send can encrypt", "[tools][engine]") {
    Workload work;
    work.messages = 1'000;
    work.curve = true;
    for (const Engine& engine : libzmq_engines()) {
        CAPTURE(engine.variant);
        CHECK(engine.can(work));
        work.transport = Transport::inproc;
        CHECK_FALSE(engine.can(work));
        work.transport = Transport::tcp;
    }
}

TEST_CASE("over inproc, libzmq is measured only in variants that differ there", "[tools][engine]") {
    Workload work;
    work.transport = Transport::inproc;
    CHECK(variants_of(work, 2) ==
          std::vector<std::string>{"as reported", "HWM 0", "message API", "message API, HWM 0"});
}

TEST_CASE("libzmq has at most as many I/O threads as Telegate, each number as its own variant", "[tools][engine]") {
    const std::vector<std::string> two = variants_of({}, 2);
    CHECK(two.front() == "as reported");
    CHECK(contains(two, "2 I/O threads"));
    CHECK(contains(two, "message API, 2 I/O threads"));
    CHECK(contains(two, "two contexts, 2 I/O threads"));
    CHECK_FALSE(contains(variants_of({}, 1), "1 I/O threads"));

    const libzmq::Contexts contexts({}, {.two_contexts = true, .io_threads = 2}, {});
    CHECK(zmq_ctx_get(contexts.first.get(), ZMQ_IO_THREADS) == 2);
    CHECK(zmq_ctx_get(contexts.of_receivers().get(), ZMQ_IO_THREADS) == 2);
}

TEST_CASE("every variant of libzmq delivers all messages", "[tools][engine]") {
    Workload work;
    work.transport = GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
    work.messages = 1'000;
    for (const Engine& engine : libzmq_engines(2)) {
        CAPTURE(engine.variant);
        CHECK((!engine.can(work) || engine.run(work).seconds > 0));
    }
}
