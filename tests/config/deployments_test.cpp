#include "config/load.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <string>
#include <tuple>

using namespace telegate;

TEST_CASE("the settings files for three kinds of deployment load and have the intended values", "[config][load]") {
    const auto [name, interval_ms, queue_size, log_level] =
        GENERATE(table<std::string, std::int64_t, std::int64_t, std::string>(
            {{"embedded", 200, 64, "error"}, {"high_frequency", 10, 512, "warn"}, {"cloud", 50, 2'048, "info"}}));
    CAPTURE(name);
    const Settings settings = load_settings(TELEGATE_SOURCE_DIR "/config/" + name + ".ini");
    CHECK(settings.sampling_interval_ms == interval_ms);
    CHECK(settings.queue_size == queue_size);
    CHECK(settings.log_level == log_level);
    CHECK(settings.queue_policy == "drop_oldest");
    CHECK(settings.rest_host == "127.0.0.1");
    REQUIRE_FALSE(settings.publish.empty());
    CHECK(settings.publish.front().endpoint == "tcp://127.0.0.1:5556");
    REQUIRE_FALSE(settings.devices.empty());
    CHECK(settings.devices.back().name == "simulated");  // perf_tool footprint appends to the last section
    CHECK(settings.devices.back().interval_ms == 0);
}
