#include "endpoints/peer_log.hpp"

#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

using namespace telegate;

namespace {

struct PeerLogHarness {
    void disconnect(std::string_view peer, std::string_view why, PeerEnding ending = PeerEnding::violation) {
        PeerStatus status;
        status.matched = 3;
        status.sent = 2;
        status.dropped = 1;
        peers.log_event({MonitorEventKind::disconnected, "tcp://127.0.0.1:5556", peer, 7, why, 0, &status, ending});
    }

    /// Returns what was logged since the last call.
    std::string read_new() {
        const std::string all = folder.read("log");
        return all.substr(std::exchange(read_bytes, all.size()));
    }
    std::size_t new_lines() {
        const std::string text = read_new();
        return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    }

    test::ScratchDir folder;
    Log log{LogOptions{.file = folder.path("log")}};
    std::size_t read_bytes = 0;
    PeerLog peers{log};
};

using Catch::Matchers::EndsWith;

}  // namespace

TEST_CASE("a peer that violates the protocol is logged once a minute, however often it reconnects", "[gateway][log]") {
    PeerLogHarness h;
    h.disconnect("10.0.0.1:40000", "malformed command");
    CHECK_THAT(h.read_new(),
               EndsWith(" warning subscriber closed id=7 endpoint=tcp://127.0.0.1:5556 peer=\"10.0.0.1:40000\" "
                        "reason=\"malformed command\" matched=3 sent=2 dropped=1\n"));
    for (int port = 40'001; port < 40'100; ++port) {
        h.disconnect("10.0.0.1:" + std::to_string(port), "malformed command");
    }
    CHECK(h.new_lines() == 0);
}

TEST_CASE("for service clients only problems are logged", "[gateway][log]") {
    PeerLogHarness h;
    PeerStatus status;
    const auto note = [&](MonitorEventKind kind, std::string_view why, PeerEnding ending = PeerEnding::violation) {
        h.peers.log_trouble({kind, "tcp://127.0.0.1:5557", "10.0.0.1:40000", 7, why, 0, &status, ending},
                            "service client");
    };
    note(MonitorEventKind::handshake_done, "");
    note(MonitorEventKind::disconnected, "peer disconnected", PeerEnding::normal);
    CHECK(h.new_lines() == 0);
    note(MonitorEventKind::handshake_failed, "no ZMTP greeting");
    CHECK_THAT(h.read_new(),
               EndsWith(" warning connection refused endpoint=tcp://127.0.0.1:5557 peer=\"10.0.0.1:40000\" "
                        "reason=\"no ZMTP greeting\"\n"));
    note(MonitorEventKind::disconnected, "malformed command");
    CHECK_THAT(h.read_new(),
               EndsWith(" warning service client closed id=7 endpoint=tcp://127.0.0.1:5557 peer=\"10.0.0.1:40000\" "
                        "reason=\"malformed command\" matched=0 sent=0 dropped=0\n"));
}

TEST_CASE("a CURVE client is logged with its name, or with its key if it has no name", "[gateway][log]") {
    PeerLogHarness h;
    PeerStatus status;
    status.curve_key = CurveKey{};
    const auto note = [&](MonitorEventKind kind, std::string_view why) {
        h.peers.log_event({kind, "tcp://127.0.0.1:5556", "10.0.0.1:40000", 7, why, 0, &status});
        return h.read_new();
    };
    CHECK_THAT(note(MonitorEventKind::handshake_failed, "client key not allowed"),
               EndsWith(" warning connection refused endpoint=tcp://127.0.0.1:5556 peer=\"10.0.0.1:40000\" "
                        "key=\"0000000000000000000000000000000000000000\" reason=\"client key not allowed\"\n"));
    status.curve_name = "anna";
    CHECK_THAT(note(MonitorEventKind::handshake_done, ""),
               EndsWith(" info subscriber connected id=7 endpoint=tcp://127.0.0.1:5556 peer=\"10.0.0.1:40000\" "
                        "client=\"anna\"\n"));
    CHECK_THAT(note(MonitorEventKind::disconnected, "malformed command"),
               EndsWith(" peer=\"10.0.0.1:40000\" client=\"anna\" reason=\"malformed command\" matched=0 sent=0 "
                        "dropped=0\n"));
}

TEST_CASE("another address and another cause are logged separately", "[gateway][log]") {
    PeerLogHarness h;
    h.disconnect("10.0.0.1:40000", "malformed command");
    h.disconnect("10.0.0.2:40000", "malformed command");
    h.disconnect("10.0.0.1:40001", "reserved frame flag set");
    h.disconnect("pid=11 uid=1000", "malformed command");
    h.disconnect("pid=12 uid=1000", "malformed command");
    CHECK(h.new_lines() == 4);
}

TEST_CASE("normal disconnects are all logged, up to 60 a minute", "[gateway][log]") {
    PeerLogHarness h;
    const std::string why = GENERATE("peer disconnected", "shutdown");
    h.disconnect("10.0.0.1:40000", why, PeerEnding::normal);
    CHECK_THAT(h.read_new(), EndsWith(" info subscriber disconnected id=7 endpoint=tcp://127.0.0.1:5556 "
                                      "peer=\"10.0.0.1:40000\" reason=\"" +
                                      why + "\" matched=3 sent=2 dropped=1\n"));
    for (int port = 40'001; port < 40'100; ++port) {
        h.disconnect("10.0.0.1:" + std::to_string(port), why, PeerEnding::normal);
    }
    CHECK(h.new_lines() == 59);
}
