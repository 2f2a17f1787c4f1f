#include "transport/libzmq_link.hpp"
#include "support/catch.hpp"
#include "tools/tap.hpp"
#include "transport_command.hpp"

using namespace telegate;
using namespace telegate::perf;
using namespace telegate::test;

TEST_CASE("libzmq sends no plain text with CURVE, and plain text without", "[tools][curve]") {
    Workload work;
    work.pattern = GENERATE(Pattern::pubsub, Pattern::router);
    work.curve = GENERATE(false, true);
    libzmq::Contexts contexts({}, libzmq::make_keys(work));
    const Tapped tapped = greet_over_tap<libzmq::Sender, libzmq::Receiver>(work, contexts);
    CHECK(tapped.has_arrived);
    CHECK(mechanism_in(tapped.from_sender) == (work.curve ? "CURVE" : "NULL"));
    CHECK(tapped.shows_the_text() != work.curve);
}

TEST_CASE("over inproc, libzmq is measured only in variants that differ there", "[tools][engine]") {
    Selection selection(true);
    selection.engines = {"libzmq"};
    selection.variants = "all";
    selection.io_threads = {2};
    Workload work;
    work.transport = Transport::inproc;
    std::vector<std::string> names;
    for (const SocketEngine& engine : engines_of(selection)) {
        if (engine.messages_max(work) > 0) {
            names.push_back(engine.name);
        }
    }
    CHECK(names ==
          std::vector<std::string>{"libzmq", "libzmq, HWM 0", "libzmq, message API", "libzmq, message API, HWM 0"});
}

TEST_CASE("the contexts have the requested number of I/O threads", "[tools][engine]") {
    const libzmq::Contexts contexts({.two_contexts = true, .io_threads = 2}, {});
    CHECK(zmq_ctx_get(contexts.first.get(), ZMQ_IO_THREADS) == 2);
    CHECK(zmq_ctx_get(contexts.of_receivers().get(), ZMQ_IO_THREADS) == 2);
}
