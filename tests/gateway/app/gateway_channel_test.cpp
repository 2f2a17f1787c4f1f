#include "gateway/durable/request_place.hpp"
#include "gateway/http/raw_http_client.hpp"
#include "support/catch.hpp"
#include "support/gateway_fixture.hpp"
#include "support/scratch_dir.hpp"

#include <httplib.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using nlohmann::json;

namespace {

/// A gateway with a history of a few hundred samples and a log.
struct Logged : GatewayFixture {
    explicit Logged(const ScratchDir& scratch)
        : GatewayFixture("history_bytes = 65536\n[rest]\nlisten = 127.0.0.1:0\n[log]\npath = " + scratch.path("log") +
                         "\n[publish \"a\"]\nendpoint = tcp://127.0.0.1:0\n"
                         "[device \"d\"]\ndriver = simulated\ninterval_ms = 1\nwaveforms = counter, sine\n") {}

    json get(const std::string& path, int status = 200) {
        const auto answer = client.Get(path);
        REQUIRE(answer);
        CAPTURE(path, answer->body);
        CHECK(answer->status == status);
        return json::parse(answer->body);
    }
    /// Publishes samples, and returns the last number of the channel "d/sine".
    std::uint64_t publish(std::uint64_t samples) {
        const auto last = [&] {
            return get("/samples/latest?prefix=d/sine")["samples"][0]["seq"].get<std::uint64_t>();
        };
        REQUIRE(eventually([&] {
            const json latest = get("/samples/latest?prefix=d/sine")["samples"];
            return !latest.empty() && latest[0]["seq"] >= samples;
        }));
        REQUIRE(client.Post("/stop")->status == 200);
        std::uint64_t before = 0;
        REQUIRE(eventually([&] {
            const bool is_same = before == last();
            before = last();
            return is_same;
        }));
        return before;
    }
    /// Returns the samples of all pages.
    std::vector<json> pages(const std::string& query) {
        std::vector<json> samples;
        json page = get("/samples/d/sine?limit=700" + query);
        for (;;) {
            CHECK(page["gaps"].empty());
            samples.insert(samples.end(), page["samples"].begin(), page["samples"].end());
            CHECK(page["more"] == !page["next"].is_null());
            if (!page["more"]) {
                return samples;
            }
            page = get("/samples/d/sine?limit=700&epoch=" + page["next"]["epoch"].dump() +
                       "&since_seq=" + page["next"]["since_seq"].dump());
        }
    }
    std::int64_t epoch() { return get("/samples/d/sine")["epoch"]; }

    httplib::Client client{"127.0.0.1", port_of(gateway->rest_address())};
};

std::uint64_t sum(const json& numbers) {
    std::uint64_t total = 0;
    for (const json& each : numbers) {
        total += each.get<std::uint64_t>();
    }
    return total;
}

/// Checks that samples have all numbers from `first` to `last`.
void check_numbers(const std::vector<json>& samples, std::uint64_t first, std::uint64_t last) {
    REQUIRE(samples.size() == last - first + 1);
    for (const json& each : samples) {
        REQUIRE(each["seq"] == first++);
    }
}

constexpr std::uint64_t many = 2'000;

}  // namespace

TEST_CASE("the samples of a channel continue in the log without a seam", "[gateway][rest][log]") {
    const ScratchDir scratch;
    Logged h(scratch);
    const std::uint64_t last = h.publish(many);
    check_numbers(h.pages("&since_seq=0"), 1, last);
    check_numbers(h.pages("&since=1h"), 1, last);
    CHECK(h.pages("&since=2020-01-01T00:00:00Z&until=1h").empty());
    const json newest = h.get("/samples/d/sine?limit=1500");
    check_numbers(newest["samples"], last - 1'499, last);
    CHECK(newest["gap"].is_null());
    CHECK(newest["more"] == false);
    CHECK(h.get("/samples/d/sine?since_seq=" + std::to_string(last))["samples"].empty());
    const std::string time = newest["samples"][700]["time"];
    const json before = h.get("/samples/d/sine?limit=10&until=" + time);
    check_numbers(before["samples"], last - 1'499 + 690, last - 1'499 + 699);
}

TEST_CASE("the samples of earlier runs of the gateway are in the log", "[gateway][rest][log]") {
    const ScratchDir scratch;
    auto first = std::make_unique<Logged>(scratch);
    const std::uint64_t last = first->publish(many);
    const std::int64_t epoch = first->epoch();
    REQUIRE(first->stop());
    first.reset();
    Logged h(scratch);
    const std::uint64_t later = h.publish(100);
    const std::vector<json> all = h.pages("&epoch=" + std::to_string(epoch));
    REQUIRE(all.size() == last + later);
    check_numbers({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(last)}, 1, last);
    check_numbers({all.begin() + static_cast<std::ptrdiff_t>(last), all.end()}, 1, later);
    CHECK(all.front()["epoch"] == epoch);
    CHECK(all.front()["unit"] == all.back()["unit"]);
    CHECK(all.back()["epoch"] == h.epoch());
    CHECK(h.get("/samples/d/sine?limit=10000")["samples"].size() == last + later);
    CHECK(h.get("/samples/d/sine?epoch=1", 404)["detail"] ==
          "the durable log has nothing of this epoch; GET /log lists its epochs");
    CHECK(h.get("/samples/d/tangent", 404)["detail"] ==
          "there is no channel with topic \"d/tangent\"; GET /channels lists them");
}

TEST_CASE("the samples of a channel are aggregated by intervals", "[gateway][rest][log]") {
    const ScratchDir scratch;
    Logged h(scratch);
    const std::uint64_t last = h.publish(many);
    const json all =
        h.get("/samples/d/counter?since=1h&interval=100ms&aggregate=min,max,mean,count,first_time,last_time", 422);
    CHECK(all["errors"][0]["parameter"] == "interval");
    const json table =
        h.get("/samples/d/counter?since=10m&interval=100ms&aggregate=min,max,mean,count,first_time,last_time");
    CHECK(table["topic"] == "d/counter");
    CHECK(table["interval_ms"] == 100);
    CHECK(sum(table["count"]) == last);
    CHECK(sum(table["missing"]) == 0);
    CHECK(sum(table["not_good"]) == 0);
    const std::vector<json> samples = h.get("/samples/d/counter?since=10m&limit=10000")["samples"];
    std::size_t next = 0;
    for (std::size_t i = 0; i < table["time_ms"].size(); ++i) {
        CHECK(table["time_ms"][i].get<std::int64_t>() % 100 == 0);
        const auto count = table["count"][i].get<std::size_t>();
        CHECK(table["min"][i] == samples.at(next)["value"]);
        next += count;
        CHECK(table["max"][i] == samples.at(next - 1)["value"]);
        CHECK(table["mean"][i] == (table["min"][i].get<double>() + table["max"][i].get<double>()) / 2);
        CHECK(table["first_time_ms"][i] >= table["time_ms"][i]);
        CHECK(table["last_time_ms"][i] < table["time_ms"][i].get<std::int64_t>() + 100);
    }
    CHECK(next == samples.size());
    const json counts = h.get("/samples/d/counter?since=1h&interval=1d&aggregate=count");
    CHECK_FALSE(counts.contains("min"));
    CHECK(sum(counts["count"]) == last);
}

TEST_CASE("a request for intervals must be complete and possible", "[gateway][rest][log]") {
    const ScratchDir scratch;
    Logged h(scratch);
    const auto [query, name] =
        GENERATE(table<std::string, std::string>({{"aggregate=min&interval=1s", "since"},
                                                  {"aggregate=min&since=1h", "interval"},
                                                  {"aggregate=min&since=1h&interval=10", "interval"},
                                                  {"aggregate=min&since=1h&interval=0s", "interval"},
                                                  {"aggregate=min&since=2d&interval=1s", "interval"},
                                                  {"aggregate=min,median&since=1h&interval=10s", "aggregate"},
                                                  {"aggregate=&since=1h&interval=10s", "aggregate"},
                                                  {"aggregate=min&since=1h&interval=10s&limit=5", "limit"},
                                                  {"aggregate=min&since=yesterday&interval=10s", "since"},
                                                  {"interval=10s", "interval"},
                                                  {"until=2026-11-20", "until"}}));
    CAPTURE(query);
    CHECK(h.get("/samples/d/sine?" + query, 422)["errors"][0]["parameter"] == name);
}

TEST_CASE("too many requests of one client at once that read the log are refused", "[gateway][rest][log]") {
    const ScratchDir scratch;
    Logged h(scratch);
    std::vector<std::shared_ptr<LogHistory::Place>> places;
    for (std::size_t i = 0; i < LogHistory::places_max; ++i) {
        places.push_back(request_place(h.log_history(), "127.0.0.1").get());
    }
    CHECK(h.get("/samples/d/sine?since=1h", 503)["detail"] ==
          "too many requests are reading the durable log: must be at most 8");
    places.clear();
    CHECK(h.get("/samples/d/sine?since=1h")["gaps"].empty());
}

TEST_CASE("requests that wait for a place of the log hold no worker", "[gateway][rest][log]") {
    const ScratchDir scratch;
    Logged h(scratch);
    std::vector<std::shared_ptr<LogHistory::Place>> places;
    for (std::size_t i = 0; i < 2 * LogHistory::places_max; ++i) {  // half of them make way
        places.push_back(request_place(h.log_history(), "127.0.0.1").get());
        for (std::size_t step = 0; step < LogHistory::steps_min; ++step) {
            CHECK(places.back()->take_step());
        }
    }
    const auto get = [port = port_of(h.gateway->rest_address())](const char* address) {
        httplib::Client client{"127.0.0.1", port};
        client.set_interface(address);
        const auto began = std::chrono::steady_clock::now();
        const auto answer = client.Get("/samples/d/sine?since=1h");
        const bool is_refused = answer && answer->status == 503 && answer->has_header("Retry-After");
        return is_refused && std::chrono::steady_clock::now() - began >= LogHistory::wait_max;
    };
    std::vector<std::future<bool>> waiting;
    for (std::size_t i = 0; i < LogHistory::client_waiting_max; ++i) {
        for (const char* const address : {"127.0.0.1", "127.0.0.2"}) {
            waiting.push_back(std::async(std::launch::async, get, address));
        }
    }
    CHECK(h.client.Get("/livez")->status == 200);
    CHECK(h.client.Get("/devices")->status == 200);
    for (auto& each : waiting) {
        CHECK(each.get());
    }
    places.clear();
    CHECK(h.get("/samples/d/sine?since=1h")["gaps"].empty());
}

TEST_CASE("a crowd of one address delays neither another client nor health checks", "[gateway][rest][log]") {
    const ScratchDir scratch;
    Logged h(scratch);
    h.publish(2'000);
    const std::string path = "/samples/d/sine?since=1h&limit=10000";
    const int port = port_of(h.gateway->rest_address());
    std::atomic<bool> is_over = false;
    std::atomic<std::uint64_t> unexpected = 0;
    std::atomic<std::uint64_t> responses = 0;
    std::vector<std::thread> crowd;
    for (std::size_t i = 0; i < 24; ++i) {
        crowd.emplace_back([&] {
            httplib::Client client{"127.0.0.1", port};
            while (!is_over) {
                const auto answer = client.Get(path);
                const bool is_expected =
                    answer && (answer->status == 200 || (answer->status == 503 && answer->has_header("Retry-After")));
                unexpected += is_expected ? 0 : 1;
                ++responses;
            }
        });
    }
    CHECK(eventually([&] { return responses > 24; }));
    httplib::Client honest{"127.0.0.1", port};
    honest.set_interface("127.0.0.2");
    for (int i = 0; i < 5; ++i) {
        const auto health = honest.Get("/livez");
        CHECK((health && health->status == 200));
        const auto answer = honest.Get(path);
        CHECK((answer && answer->status == 200));
    }
    is_over = true;
    for (std::thread& each : crowd) {
        each.join();
    }
    CHECK(unexpected == 0);
}

TEST_CASE("without a log, the samples in memory are aggregated", "[gateway][rest]") {
    GatewayFixture h(
        "[rest]\nlisten = 127.0.0.1:0\n[device \"d\"]\ndriver = simulated\ninterval_ms = 2\nwaveforms = sine\n");
    httplib::Client client{"127.0.0.1", port_of(h.gateway->rest_address())};
    CHECK(eventually([&] {
        const json table = json::parse(client.Get("/samples/d/sine?since=10m&interval=1m&aggregate=count")->body);
        return sum(table["count"]) >= 20;
    }));
}
