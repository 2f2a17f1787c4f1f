#include "base/whole_file.hpp"
#include "gateway/http/raw_http_client.hpp"
#include "state/previous_runs_state.hpp"
#include "support/catch.hpp"
#include "support/gateway_fixture.hpp"
#include "support/scratch_dir.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using nlohmann::json;

namespace {

struct ReceivedEvent {
    std::string id;
    std::string type;
    json data;
};

/// The body of a response to an HTTP/1.0 request for /stream, which is not chunked.
std::vector<ReceivedEvent> events_in(const std::string& answer) {
    std::vector<ReceivedEvent> events;
    std::size_t at = answer.find("\r\n\r\n") + 4;
    for (std::size_t end = answer.find("\n\n", at); end != std::string::npos; end = answer.find("\n\n", at)) {
        ReceivedEvent event;
        while (at < end) {
            const std::size_t line_end = answer.find('\n', at);
            const std::string line = answer.substr(at, line_end - at);
            event.id = line.starts_with("id: ") ? line.substr(4) : event.id;
            event.type = line.starts_with("event: ") ? line.substr(7) : event.type;
            event.data = line.starts_with("data: ") ? json::parse(line.substr(6)) : event.data;
            at = line_end + 1;
        }
        events.push_back(std::move(event));
        at = end + 2;
    }
    return events;
}

/// A gateway with a fast device and a state file.
struct Streamed {
    void start() {
        fixture = std::make_unique<GatewayFixture>("state_file = " + folder.path("state") + R"(
[rest]
listen = 127.0.0.1:0
[device "d"]
driver = simulated
copies = 3
interval_ms = 1
)");
    }
    [[nodiscard]] RawHttpClient connect() const { return RawHttpClient(fixture->gateway->rest_address()); }
    /// Stops the gateway cleanly while the client reads. Returns the data read.
    std::string end(RawHttpClient& client) {
        auto stopped = std::async(std::launch::async, [this] { return fixture->stop(); });
        std::string text = client.read_until("event: end\n");
        REQUIRE(stopped.get());
        fixture.reset();
        return text + client.read_all();
    }
    [[nodiscard]] PastEpoch last_epoch() const {
        return std::get<std::vector<PastEpoch>>(
                   read_past_epochs(read_whole_file(folder.path("state"), state_bytes_max)))
            .back();
    }

    ScratchDir folder;
    std::unique_ptr<GatewayFixture> fixture;
};

constexpr std::string_view get_stream_1_0 = "GET /stream HTTP/1.0\r\nHost: localhost\r\n\r\n";

}  // namespace

TEST_CASE("when the gateway stops a stream ends after everything that was published", "[gateway][rest][stream]") {
    Streamed s;
    s.start();
    RawHttpClient client = s.connect();
    std::string begin = client.send(get_stream_1_0).read_until("\n\n");
    for (int event = 0; event < 1'000; ++event) {
        begin += client.read_until("\n\n");
    }
    const std::vector<ReceivedEvent> events = events_in(begin + s.end(client));
    std::map<std::string, std::uint64_t, std::less<>> last_seqs;
    std::uint64_t samples = 0;
    std::uint64_t missed = 0;  // when this machine is too busy to read in time
    for (const ReceivedEvent& event : events) {
        if (event.type == "sample") {
            last_seqs[event.data["device"].get<std::string>() + '/' + event.data["channel"].get<std::string>()] =
                event.data["seq"];
            ++samples;
        } else if (event.type == "gap") {
            missed += event.data["missed"].get<std::uint64_t>();
        }
    }
    const PastEpoch epoch = s.last_epoch();
    CHECK(last_seqs == epoch.last_seqs);
    REQUIRE(events.back().type == "end");
    CHECK(events.back().data ==
          json{{"reason", "shutdown"}, {"epoch", epoch.epoch_ms}, {"sent", samples}, {"missed", missed}});
    CHECK(events.back().id == std::to_string(epoch.epoch_ms) + '-' + std::to_string(epoch.published.value() - 1));
}

TEST_CASE("a client that resumes after a restart receives the number of missed samples", "[gateway][rest][stream]") {
    Streamed s;
    s.start();
    RawHttpClient client = s.connect();
    const std::string id = events_in(client.send(get_stream_1_0).read_until("}\n\n")).back().id;
    const std::uint64_t position = std::stoull(id.substr(id.find('-') + 1));
    (void)s.end(client);
    const PastEpoch epoch = s.last_epoch();
    s.start();
    const std::string request = "GET /stream HTTP/1.0\r\nHost: localhost\r\nLast-Event-ID: " + id + "\r\n\r\n";
    const ReceivedEvent gap = events_in(s.connect().send(request).read_until("}\n\n")).front();
    CHECK(gap.type == "gap");
    CHECK(gap.data["reason"] == "restart");
    CHECK(gap.data["missed"] == epoch.published.value() - position - 1);
}
