#include "endpoints/publishers.hpp"

#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/socket_harness.hpp"

#include <memory>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

constexpr const char* any_port = "tcp://127.0.0.1:0";

FormatEndpoint format_endpoint(const std::string& name, const std::string& endpoint,
                               PayloadFormat format = PayloadFormat::json) {
    return {std::get<Endpoint>(parse_endpoint(endpoint)), format, name};
}

/// The publishers without a gateway.
struct PublishersHarness {
    explicit PublishersHarness(const std::vector<FormatEndpoint>& endpoints)
        : publishers(bench.reactor, endpoints, {1'000, GENERATE(std::size_t{1}, std::size_t{3})}, Publishers::Hooks{}) {
    }

    void change_to(const std::vector<FormatEndpoint>& endpoints) {
        const auto prepared = publishers.prepare(endpoints);
        publishers.apply(*prepared, 60s);
    }
    Endpoint bound(std::size_t index) const { return publishers.endpoints().at(index).endpoint; }
    /// Connects a subscriber to everything and waits until its subscription has arrived.
    Subscriber& subscribe(const Endpoint& endpoint) {
        Subscriber& subscriber =
            *subscribers.emplace_back(std::make_unique<Subscriber>(bench.reactor, SocketOptions()));
        const std::size_t before = publishers.totals().subscriptions;
        subscriber.subscribe("");
        subscriber.connect(endpoint);
        REQUIRE(turn_until([&] { return publishers.totals().subscriptions == before + 1; }));
        return subscriber;
    }
    /// Runs the reactor until the condition holds. The subscribers read incoming messages, like applications do.
    template <class Condition>
    bool turn_until(Condition condition) {
        return bench.turn_until([&] {
            MessageBatch batch;
            for (const auto& subscriber : subscribers) {
                (void)subscriber->receive(batch);
            }
            return condition();
        });
    }
    std::size_t connections() const { return publishers.subscribers().size(); }
    bool is_free(const Endpoint& endpoint) {
        Publisher other(bench.reactor, {});
        try {
            other.bind(endpoint);
            return true;
        } catch (const std::system_error&) {
            return false;
        }
    }

    Bench bench;
    Publishers publishers;
    std::vector<std::unique_ptr<Subscriber>> subscribers;
};

}  // namespace

TEST_CASE("unchanged endpoints are not touched, regardless of order and name", "[gateway][publishers]") {
    PublishersHarness h({format_endpoint("a", any_port), format_endpoint("b", any_port)});
    const Endpoint a = h.bound(0);
    const Endpoint b = h.bound(1);
    h.subscribe(a);
    h.subscribe(b);
    h.change_to({format_endpoint("b", any_port), format_endpoint("a", any_port)});
    CHECK(h.bound(0) == b);
    CHECK(h.bound(1) == a);
    h.change_to({format_endpoint("b", any_port), format_endpoint("y", to_string(a))});
    CHECK(h.bound(1) == a);
    h.change_to({format_endpoint("x", to_string(a)), format_endpoint("b", any_port)});
    CHECK(h.bound(0) == a);
    CHECK(h.bound(1) == b);
    h.bench.turn();
    CHECK(h.connections() == 2);
    CHECK(h.publishers.totals().connections_accepted == 2);
}

TEST_CASE("a change of policy, limit or age closes no connection and applies to connected subscribers",
          "[gateway][publishers]") {
    FormatEndpoint endpoint = format_endpoint("a", any_port);
    PublishersHarness h({endpoint});
    h.subscribe(h.bound(0));
    endpoint.delivery = {SlowPolicy::disconnect, 65'536, 0ms};
    endpoint.last_value = true;
    h.change_to({endpoint});
    CHECK(h.publishers.totals().connections_accepted == 1);
    CHECK(h.connections() == 1);
    CHECK(h.publishers.endpoints().at(0).delivery == endpoint.delivery);
    CHECK(h.publishers.has_last_value(PayloadFormat::json, to_string(h.bound(0))));
    // Far more than its backlog limit and the kernel's buffers.
    Publisher& publisher = h.publishers.by_format().at(0).publisher;
    const TopicId topic = publisher.intern("t");
    for (int i = 0; i < 20'000; ++i) {
        publisher.send(topic, std::string(1'000, 'x'));
    }
    CHECK(eventually([&] {
        h.bench.reactor.poll();
        return h.connections() == 0;
    }));
    CHECK(h.publishers.totals().lost[static_cast<std::size_t>(LossReason::disconnected)] > 0);
}

TEST_CASE("a new endpoint is bound, a removed one is released, and only its subscribers are disconnected",
          "[gateway][publishers]") {
    PublishersHarness h({format_endpoint("a", any_port), format_endpoint("b", any_port)});
    const Endpoint a = h.bound(0);
    const Endpoint b = h.bound(1);
    h.subscribe(a);
    h.subscribe(b);
    h.change_to({format_endpoint("b", any_port), format_endpoint("c", any_port)});
    CHECK(h.turn_until([&] { return h.connections() == 1; }));
    CHECK(h.publishers.subscribers().at(0).endpoint == to_string(b));
    CHECK(h.is_free(a));
    h.subscribe(h.bound(1));
    CHECK(h.connections() == 2);
}

TEST_CASE("an address in use leaves everything unchanged", "[gateway][publishers]") {
    PublishersHarness h({format_endpoint("a", any_port), format_endpoint("b", any_port)});
    const Endpoint a = h.bound(0);
    h.subscribe(a);
    Publisher other(h.bench.reactor, {});
    const Endpoint taken = other.bind(std::get<Endpoint>(parse_endpoint(any_port)));
    const Endpoint free = other.bind(std::get<Endpoint>(parse_endpoint(any_port)));
    other.unbind(free);
    // The first can be bound, and the second replaces one to be removed.
    CHECK_THROWS_WITH(h.publishers.prepare(std::vector{format_endpoint("x", to_string(free)),
                                                       format_endpoint("a", to_string(a), PayloadFormat::cbor),
                                                       format_endpoint("c", to_string(taken))}),
                      Catch::Contains(std::to_string(taken.port)));
    CHECK(h.is_free(free));
    CHECK(h.bound(0) == a);
    CHECK(h.connections() == 1);
    h.subscribe(a);
    CHECK(h.publishers.by_format().size() == 1);
}

TEST_CASE("another format at the same address disconnects the subscribers of the old one", "[gateway][publishers]") {
    PublishersHarness h({format_endpoint("a", any_port)});
    const Endpoint a = h.bound(0);
    h.subscribe(a);
    h.change_to({format_endpoint("a", to_string(a), PayloadFormat::record)});
    CHECK(h.bound(0) == a);
    // The subscriber reconnects by itself and then belongs to the other format.
    CHECK(h.turn_until([&] {
        const auto all = h.publishers.subscribers();
        return all.size() == 1 && all.at(0).format == PayloadFormat::record;
    }));
    REQUIRE(h.publishers.by_format().size() == 1);
    CHECK(h.publishers.by_format().at(0).format == PayloadFormat::record);
}

TEST_CASE("prepared changes can be rolled back", "[gateway][publishers]") {
    PublishersHarness h({format_endpoint("a", any_port)});
    const Endpoint a = h.bound(0);
    h.subscribe(a);
    const auto prepared = h.publishers.prepare(
        std::vector{format_endpoint("a", to_string(a), PayloadFormat::cbor), format_endpoint("b", any_port)});
    CHECK(h.publishers.roll_back(*prepared).empty());
    CHECK(h.bound(0) == a);
    h.subscribe(a);
    CHECK(h.connections() == 2);
    CHECK(h.publishers.by_format().size() == 1);
}

TEST_CASE("the counts of a format stay after its last endpoint was removed", "[gateway][publishers]") {
    PublishersHarness h({format_endpoint("a", any_port), format_endpoint("b", any_port, PayloadFormat::cbor)});
    h.subscribe(h.bound(1));
    h.change_to({format_endpoint("a", any_port)});
    CHECK(h.turn_until([&] { return h.connections() == 0; }));
    CHECK(h.publishers.totals().connections_accepted == 1);
    CHECK(h.publishers.by_format().size() == 1);
    h.change_to({format_endpoint("a", any_port), format_endpoint("b", any_port, PayloadFormat::cbor)});
    h.subscribe(h.bound(1));
    CHECK(h.publishers.subscribers().at(0).id == 2);
}
