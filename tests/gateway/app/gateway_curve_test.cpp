#include "settings/settings_json.hpp"
#include "status/status_json.hpp"
#include "support/catch.hpp"
#include "support/curve_files.hpp"
#include "support/gateway_fixture.hpp"
#include "support/socket_harness.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

const std::string rest_and_device =
    "[rest]\nlisten = 127.0.0.1:0\n[device \"d\"]\ndriver = simulated\ninterval_ms = 1\nwaveforms = sine\n";
const std::string sealed_endpoint = "[publish \"sealed\"]\nendpoint = tcp://127.0.0.1:0\n";

/// Owned by the fixture below; created before the gateway reads it.
struct CurveSettings {
    std::string plain() const {
        return rest_and_device + "[publish \"plain\"]\nendpoint = ipc://" + files.folder.path("plain.sock") + "\n";
    }
    std::string sealed(const std::string& curve) const { return plain() + sealed_endpoint + curve; }

    CurveFiles files;
    std::string text = sealed(files.settings());

    ReloadSource source() {
        ReloadSource source;
        source.load = [this] {
            return LoadedSettings{parse_settings(text, "test.ini"), {}};
        };
        return source;
    }
};

/// A gateway with a plain and an encrypted endpoint of the same format, and subscribers whose reactor runs in the
/// test's thread.
struct CurveGateway : CurveSettings, GatewayFixture {
    CurveGateway() : GatewayFixture(parse_settings(text, "test.ini"), source()) {}

    std::size_t connect(const std::string& endpoint, const Security& security) {
        SocketOptions options;
        options.security = security;
        options.reconnect_first = 5ms;
        options.reconnect_max = 10ms;
        auto& subscriber = *subscribers.emplace_back(std::make_unique<Subscriber>(bench.reactor, options));
        inboxes.push_back(std::make_unique<Inbox<Subscriber>>(subscriber));
        subscriber.subscribe("");
        subscriber.connect(std::get<Endpoint>(parse_endpoint(endpoint)));
        return inboxes.size() - 1;
    }
    std::size_t connect_as(const CurveKeyPair& keys) { return connect(sealed_address, CurveClient{keys, server_key}); }
    /// Returns whether more messages arrive.
    bool receives(std::size_t subscriber) {
        const std::size_t before = inboxes.at(subscriber)->receive();
        return bench.turn_until([&] { return inboxes.at(subscriber)->receive() >= before + 5; });
    }
    /// Returns whether the gateway has refused this many subscribers; the accepted ones keep receiving.
    bool has_refused(std::uint64_t count) {
        return turn_until([&] { return status().publisher.handshakes_failed >= count; });
    }
    template <class Condition>
    bool turn_until(Condition condition) {
        return bench.turn_until([&] {
            std::for_each(inboxes.begin(), inboxes.end(), [](const auto& inbox) { inbox->receive(); });
            return condition();
        });
    }
    std::vector<std::string> keys_at(const std::string& endpoint) {
        std::vector<std::string> keys;
        for (const SubscriberStatus& each : status().subscribers) {
            if (each.endpoint == endpoint) {
                keys.push_back(each.curve_key ? to_z85(*each.curve_key) : "");
            }
        }
        std::sort(keys.begin(), keys.end());
        return keys;
    }
    ReloadOutcome reload() {
        report = gateway->live_settings().reload("test");
        return report.outcome;
    }

    Bench bench;
    std::vector<std::unique_ptr<Subscriber>> subscribers;
    std::vector<std::unique_ptr<Inbox<Subscriber>>> inboxes;
    const std::string plain_address = endpoint(0);
    const std::string sealed_address = endpoint(1);
    CurveKey server_key = files.server.public_key;
    ReloadReport report;
};

}  // namespace

TEST_CASE("a plain endpoint and an encrypted endpoint of the same format work side by side", "[gateway][curve]") {
    CurveGateway g;
    const std::size_t plain = g.connect(g.plain_address, {});
    const std::size_t anna = g.connect_as(g.files.anna);
    CHECK(g.receives(plain));
    CHECK(g.receives(anna));
    g.connect_as(make_curve_key_pair());
    CHECK(g.has_refused(1));
    g.subscribers.back()->disconnect(std::get<Endpoint>(parse_endpoint(g.sealed_address)));
    g.connect(g.sealed_address, {});
    CHECK(g.has_refused(g.status().publisher.handshakes_failed + 1));
    CHECK(g.keys_at(g.sealed_address) == std::vector{to_z85(g.files.anna.public_key)});
    CHECK(g.keys_at(g.plain_address) == std::vector<std::string>{""});
}

TEST_CASE("the status shows public keys but no secret key", "[gateway][curve]") {
    CurveGateway g;
    const std::size_t anna = g.connect_as(g.files.anna);
    REQUIRE(g.receives(anna));
    const StatusSnapshot now = g.status();
    CHECK(now.endpoints.at(0).curve_key.empty());
    CHECK(now.endpoints.at(1).curve_key == to_z85(g.server_key));
    CHECK(now.endpoints.at(1).clients == 1);
    const std::string shown = status_json(now) + settings_json(*g.gateway->live_settings().in_force().settings);
    CHECK_THAT(shown, Catch::Contains(to_z85(g.files.anna.public_key)) && Catch::Contains(g.files.secret));
    CHECK_THAT(shown, !Catch::Contains(to_z85(g.files.server.secret_key)));
}

TEST_CASE("a client is identified by the name of its key file", "[gateway][curve]") {
    CurveGateway g;
    const std::size_t anna = g.connect_as(g.files.anna);
    const std::size_t plain = g.connect(g.plain_address, {});
    REQUIRE(g.receives(anna));
    REQUIRE(g.receives(plain));
    std::vector<std::string> names;
    for (const SubscriberStatus& each : g.status().subscribers) {
        names.push_back(each.curve_name);
    }
    std::sort(names.begin(), names.end());
    CHECK(names == std::vector<std::string>{"", "anna"});
    CHECK_THAT(status_json(g.status()), Catch::Contains("\"client\":\"anna\"") && Catch::Contains("\"client\":null"));
}

TEST_CASE("a reload accepts clients whose key was added and closes clients whose key was removed",
          "[gateway][curve][reload]") {
    CurveGateway g;
    const CurveKeyPair bert = make_curve_key_pair();
    const std::size_t plain = g.connect(g.plain_address, {});
    const std::size_t anna = g.connect_as(g.files.anna);
    CHECK(g.receives(plain));
    CHECK(g.receives(anna));
    g.files.let_in("bert", bert);
    CHECK(g.reload() == ReloadOutcome::unchanged);
    CHECK(g.receives(g.connect_as(bert)));
    g.files.shut_out("anna");
    CHECK(g.reload() == ReloadOutcome::unchanged);
    CHECK(g.keys_at(g.sealed_address) == std::vector{to_z85(bert.public_key)});
    CHECK(g.status().subscribers_revoked == 1);
    CHECK(g.has_refused(1));  // after the client reconnects
    CHECK(g.receives(plain));
    CHECK(g.status().endpoints.at(1).endpoint == g.sealed_address);
}

TEST_CASE("unchanged files close no client", "[gateway][curve][reload]") {
    CurveGateway g;
    const std::size_t anna = g.connect_as(g.files.anna);
    REQUIRE(g.receives(anna));
    CHECK(g.reload() == ReloadOutcome::unchanged);
    CHECK(g.receives(anna));
    CHECK(g.status().publisher.connections_accepted == 1);
}

TEST_CASE("a file that cannot be read changes nothing and is reported", "[gateway][curve][reload]") {
    CurveGateway g;
    const std::size_t anna = g.connect_as(g.files.anna);
    REQUIRE(g.receives(anna));
    g.files.shut_out("anna");
    g.files.let_in("bert", make_curve_key_pair());
    write_private(g.files.folder, "clients/bad.public", "no key");
    CHECK(g.reload() == ReloadOutcome::invalid);
    CHECK_THAT(g.report.problems.at(0).text(), Catch::Contains("curve_clients_dir: " + g.files.clients));
    CHECK(g.receives(anna));
    CHECK(g.status().endpoints.at(1).clients == 1);
    CHECK(g.status().subscribers_revoked == 0);
    CHECK(g.status().config.last_reload.value().outcome == ReloadOutcome::invalid);
}

TEST_CASE("a bad file leaves the keys of the other endpoints as they were", "[gateway][curve][reload]") {
    CurveGateway g;
    const CurveFiles other;
    g.text += "[publish \"other\"]\nendpoint = tcp://127.0.0.1:0\n" + other.settings();
    REQUIRE(g.reload() == ReloadOutcome::applied);
    g.files.write_server(make_curve_key_pair());
    write_private(other.folder, "server.secret", "no key");
    CHECK(g.reload() == ReloadOutcome::invalid);
    CHECK(g.status().endpoints.at(1).curve_key == to_z85(g.server_key));
}

TEST_CASE("a changed secret key applies to connections made after the reload", "[gateway][curve][reload]") {
    CurveGateway g;
    const std::size_t anna = g.connect_as(g.files.anna);
    REQUIRE(g.receives(anna));
    const CurveKeyPair next = make_curve_key_pair();
    g.files.write_server(next);
    CHECK(g.reload() == ReloadOutcome::unchanged);
    CHECK(g.status().endpoints.at(1).curve_key == to_z85(next.public_key));
    g.connect_as(g.files.anna);
    CHECK(g.has_refused(1));
    g.server_key = next.public_key;
    CHECK(g.receives(g.connect_as(g.files.anna)));
    CHECK(g.receives(anna));
}

TEST_CASE("enabling and disabling CURVE at an endpoint does not touch other connections", "[gateway][curve][reload]") {
    CurveGateway g;
    const std::size_t plain = g.connect(g.plain_address, {});
    const std::size_t anna = g.connect_as(g.files.anna);
    CHECK(g.receives(plain));
    CHECK(g.receives(anna));
    g.text = g.sealed("");
    CHECK(g.reload() == ReloadOutcome::applied);
    CHECK(g.status().endpoints.at(1).endpoint == g.sealed_address);
    CHECK(g.turn_until([&] { return g.keys_at(g.sealed_address).empty(); }));
    CHECK(g.receives(g.connect(g.sealed_address, {})));
    g.text = g.sealed(g.files.settings());
    CHECK(g.reload() == ReloadOutcome::applied);
    CHECK(g.turn_until([&] { return g.keys_at(g.sealed_address) == std::vector{to_z85(g.files.anna.public_key)}; }));
    CHECK(g.receives(plain));
    CHECK(g.status().subscribers_revoked == 0);
    CHECK(g.gateway->live_settings().in_force().number == 3);
}

TEST_CASE("a settings change to other clients accepts the new ones and closes the old ones",
          "[gateway][curve][reload]") {
    CurveGateway g;
    const std::size_t stranger = g.connect_as(make_curve_key_pair());
    g.text = g.sealed(g.files.key_setting() + "curve_clients_dir = *\n");
    CHECK(g.reload() == ReloadOutcome::applied);
    CHECK(g.receives(stranger));
    CHECK_FALSE(g.status().endpoints.at(1).clients);
    const std::size_t anna = g.connect_as(g.files.anna);
    CHECK(g.receives(anna));
    g.text = g.sealed(g.files.settings());
    CHECK(g.reload() == ReloadOutcome::applied);
    CHECK(g.status().subscribers_revoked == 1);
    CHECK(g.keys_at(g.sealed_address) == std::vector{to_z85(g.files.anna.public_key)});
}

TEST_CASE("a dry run checks the key files", "[gateway][curve][reload]") {
    CurveGateway g;
    const auto try_out = [&](const std::string& other) {
        const std::string text = g.sealed(g.files.settings() + other);
        return g.gateway->live_settings()
            .replace({.make = [&](const Settings&) { return parse_settings(text, "sent"); }, .dry_run = true}, "test")
            .outcome;
    };
    CHECK(try_out("last_value = yes\n") == ReloadOutcome::planned);
    std::filesystem::remove(g.files.secret);
    CHECK(try_out("last_value = yes\n") == ReloadOutcome::invalid);
    CHECK(g.status().endpoints.at(1).curve_key == to_z85(g.server_key));
}

TEST_CASE("REST can neither set keys and clients nor turn encryption off", "[gateway][curve][reload]") {
    CurveGateway g;
    const std::string curve = GENERATE("", "curve_secret_key_file = /elsewhere\ncurve_clients_dir = /elsewhere\n");
    const auto make = [&](const Settings&) {
        return parse_settings(g.sealed(curve), "sent");
    };
    const ReloadReport report = g.gateway->live_settings().replace({.make = make}, "test");
    CHECK(report.outcome == ReloadOutcome::invalid);
    REQUIRE(report.problems.size() == 2);
    CHECK(report.problems.at(0).key == "/publish/sealed/curve_secret_key_file");
    CHECK(report.problems.at(1).key == "/publish/sealed/curve_clients_dir");
    CHECK(g.status().endpoints.at(1).curve_key == to_z85(g.server_key));
}

TEST_CASE("an endpoint that a refused change had to unbind is encrypted again", "[gateway][curve][reload]") {
    CurveGateway g;
    Reactor reactor;
    Publisher other(reactor, {});
    const Endpoint taken = other.bind(std::get<Endpoint>(parse_endpoint("tcp://127.0.0.1:0")));
    g.text = g.plain() + "[publish \"sealed\"]\nformat = cbor\nendpoint = " + g.sealed_address +
             "\n[publish \"taken\"]\nendpoint = " + to_string(taken) + "\n";
    CHECK(g.reload() == ReloadOutcome::failed);
    CHECK(g.receives(g.connect_as(g.files.anna)));
    g.connect(g.sealed_address, {});
    CHECK(g.has_refused(1));
}
