#include "device/queue_need.hpp"

#include "sampler_harness.hpp"
#include "support/catch.hpp"

#include <string>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> names(int count) {
    std::vector<std::string> names;
    for (int index = 0; index < count; ++index) {
        names.push_back("c" + std::to_string(index));
    }
    return names;
}

}  // namespace

TEST_CASE("a device needs two readings, or as many as it has in a second", "[device][queue]") {
    CHECK(queue_need({}, 1h, 500) == QueueNeed{500, 1'000, 1'000});
    CHECK(queue_need({}, 1s, 500) == QueueNeed{500, 1'000, 1'000});
    CHECK(queue_need({}, 10ms, 500) == QueueNeed{500, 50'500, 50'500});
    CHECK(queue_need({}, 1s, 1) == QueueNeed{1, 2, queue_need_min});
    constexpr std::size_t most = BoundedQueue<TelemetrySample>::capacity_max;
    CHECK(queue_need({}, 10us, 65'536) == QueueNeed{65'536, most, most});
    CHECK(queue_need({.own_thread = true, .streams = true}, 1s, 4) == QueueNeed{4, 4, queue_need_stream_min});
    CHECK(queue_need({.own_thread = true, .streams = true}, 1s, 4'000) == QueueNeed{4'000, 4'000, 8'000});
}

TEST_CASE("the queue grows with the devices and shrinks when they are removed", "[device][queue]") {
    SamplerHarness h(1);
    h.queue.follow_needs();
    Script script{.channels = names(700)};
    for (const char* name : {"a", "b", "c"}) {
        h.add(script, device_options(name));
    }
    CHECK(h.sampler.queue_need() == QueueNeed{2'100, 4'200, 4'200});
    CHECK(h.queue.capacity() == 8'400);
    h.step();
    CHECK(h.drain().size() == 2'100);
    CHECK(h.queue.lost() == 0);
    h.sampler.apply(*h.sampler.prepare({.set = {}, .adjusted = {device_options("a", 50ms)}, .removed = {"b"}}));
    CHECK(h.sampler.queue_need() == QueueNeed{1'400, 700 * 21 + 1'400, 700 * 21 + 1'400});
    CHECK(h.queue.capacity() == 2 * (700 * 21 + 1'400));
}

TEST_CASE("channels that a device brings at run time enlarge the queue before their first samples enter it",
          "[device][queue]") {
    SamplerHarness h(1);
    h.queue.follow_needs();
    Script script;
    std::vector<SampleBatch::Channel> added;
    script.on_read = [&](SampleBatch& batch) {
        for (const std::string& name : added.empty() ? names(5'000) : std::vector<std::string>()) {
            added.push_back(batch.add_channel(name, ""));
        }
        for (const SampleBatch::Channel channel : added) {
            batch.add(channel, 1.0);
        }
    };
    h.add(script, device_options("a"));
    h.step();
    CHECK(h.queue.lost() == 0);
    CHECK(h.queue.size() == 5'001);
    CHECK(h.queue.capacity() >= 2 * 5'001);
}

TEST_CASE("a queue of a fixed size that cannot hold one reading of each device is reported", "[device][queue]") {
    SamplerHarness h(1'000);
    int reports = 0;
    h.sampler.on_small_queue([&] { ++reports; });
    Script script{.channels = names(400)};
    h.add(script, device_options("a"));
    h.add(script, device_options("b"));
    CHECK(reports == 0);
    h.add(script, device_options("c"));
    CHECK(reports == 1);
    CHECK(h.queue.capacity() == 1'000);
    h.sampler.check_queue();
    CHECK(reports == 2);
    h.queue.follow_needs();
    h.sampler.check_queue();
    CHECK(reports == 2);
}
