#include "device/allocation_counter.hpp"
#include "device/nanoseconds.hpp"
#include "udp_fixture.hpp"

#include <stdexcept>
#include <string>
#include <thread>

using namespace telegate;
using namespace telegate::test;

namespace {

UdpDriverOptions on_port(std::uint16_t port) {
    UdpDriverOptions options;
    options.port = port;
    return options;
}

}  // namespace

TEST_CASE("a UDP device has its own thread and opens nothing before it is read", "[device][udp]") {
    udp::UdpDriver driver(on_port(0));
    CHECK(driver.traits().own_thread);
    CHECK(driver.traits().streams);
    CHECK(driver.port() == 0);
}

TEST_CASE("invalid options of a UDP device are refused", "[device][udp]") {
    const auto refuses = [](auto change, const std::string& word) {
        UdpDriverOptions options;
        change(options);
        try {
            (void)make_udp_driver(options);
        } catch (const std::invalid_argument& error) {
            CAPTURE(error.what());
            return std::string(error.what()).find(word) != std::string::npos;
        }
        return false;
    };
    CHECK(refuses([](auto& o) { o.host = "example.org"; }, "example.org"));
    CHECK(refuses([](auto& o) { o.host = ""; }, "listen"));
    CHECK(refuses([](auto& o) { o.multicast_group = "10.0.0.1"; }, "10.0.0.1"));
    CHECK(refuses([](auto& o) { o.multicast_group = "ff02::1"; }, "family"));
    CHECK(refuses([](auto& o) { o.rules.time_member = o.rules.name_member = "a"; }, "time_member"));
    UdpDriverOptions v6;
    v6.host = "[::1]";
    CHECK_NOTHROW(make_udp_driver(v6));
}

TEST_CASE("a port that is in use is a failed read until it is free", "[device][udp]") {
    auto first = std::make_unique<UdpFixture>();
    const std::uint16_t port = first->driver().port();
    DriverBench second(std::make_unique<udp::UdpDriver>(on_port(port)));
    CHECK(second.read().status == ReadResult::Status::failed);
    CHECK(second.what == "127.0.0.1:" + std::to_string(port) + ": bind: Address already in use");
    CHECK(second.read().status == ReadResult::Status::failed);  // a second later
    first.reset();
    CHECK(eventually([&] { return second.reads_ok(); }));
    CHECK(second.sample_of("lines.refused").value.integer == 0);
}

TEST_CASE("a burst of datagrams is read completely", "[device][udp]") {
    UdpFixture udp;
    constexpr int datagrams = 500;  // several batches, but fewer than fit in the smallest buffer that a kernel grants
    for (int number = 1; number <= datagrams; ++number) {
        udp.sender->send("n:" + std::to_string(number) + "|g\ncount:1|c");
    }
    REQUIRE(udp.reads_until("n", datagrams));
    const auto samples = udp.samples_of("n");
    for (std::size_t at = 0; at < samples.size(); ++at) {
        REQUIRE(samples[at].value.real == static_cast<double>(at + 1));
        REQUIRE(samples[at].seq == at + 1);
    }
    CHECK(udp.count_of("count") == datagrams);
    CHECK(udp.bench->batch().lost_at_source() == 0);
}

TEST_CASE("samples carry the time of arrival", "[device][udp]") {
    UdpFixture udp;
    const SystemClock clock;
    int number = 0;
    // The driver reads two clocks one after the other; on a busy machine their difference can be wrong.
    CHECK(eventually([&] {
        const std::string name = "early" + std::to_string(++number);
        const std::int64_t utc_before = clock.utc_now_ns();
        const std::int64_t mono_before = to_ns(clock.mono_now());
        udp.sender->send(name + ":1|g");
        const std::int64_t utc_sent = clock.utc_now_ns();
        const std::int64_t mono_sent = to_ns(clock.mono_now());
        // the datagram stays in the buffer for a while
        (void)eventually([] { return false; }, std::chrono::milliseconds(50));
        REQUIRE(udp.reads_until(name));
        const TelemetrySample sample = udp.last_of(name);
        CHECK(sample.time_utc_ns > 1'700'000'000 * second_ns);
        constexpr std::int64_t tolerance_ns = 10'000'000;
        return sample.time_utc_ns >= utc_before - tolerance_ns && sample.time_utc_ns <= utc_sent + tolerance_ns &&
               sample.time_mono_ns >= mono_before - tolerance_ns && sample.time_mono_ns <= mono_sent + tolerance_ns;
    }));
}

TEST_CASE("an overlong datagram is refused as a whole and counted", "[device][udp]") {
    UdpDriverOptions options;
    options.datagram_bytes_max = 16;
    UdpFixture udp(options);
    udp.sender->send("a:1|g\nbbbbb:22|g\n");  // 17 bytes
    udp.sender->send("c:1|g\nbbbbb:22|g");    // 16
    REQUIRE(udp.reads_until("c"));
    CHECK_FALSE(udp.has("a"));
    CHECK(udp.count_of("datagrams.refused") == 1);
    CHECK(udp.bench->batch().refusals() == 1);
    CHECK_THAT(udp.bench->batch().last_refused(),
               Catch::StartsWith("datagram longer than 16 bytes: \"a:1|g\nbbbbb:22|g"));
    CHECK(udp.has("bbbbb"));
    CHECK(udp.count_of("lines.refused") == 0);
}

TEST_CASE("all samples that the kernel drops are lost at the source", "[device][udp]") {
    UdpDriverOptions options;
    options.receive_buffer_bytes = 1;  // the smallest buffer that the kernel grants
    UdpFixture udp(options);
    constexpr std::size_t datagrams = 300;
    for (std::size_t number = 0; number < datagrams; ++number) {
        udp.sender->send("n:1|g");
    }
    // No datagram follows that would report the last drops.
    CHECK(eventually([&] {
        udp.read();
        return udp.samples_of("n").size() + udp.bench->batch().lost_at_source() >= datagrams;
    }));
    CHECK(udp.samples_of("n").size() + udp.bench->batch().lost_at_source() == datagrams);
    CHECK(udp.bench->batch().lost_at_source() > 0);
    udp.sender->send("n:1|g");
    REQUIRE(udp.reads_until("n", udp.samples_of("n").size() + 1));
    CHECK(udp.samples_of("n").size() + udp.bench->batch().lost_at_source() == datagrams + 1);
}

TEST_CASE("the size of the receive buffer is a sample", "[device][udp]") {
    UdpFixture udp;
    const TelemetrySample sample = udp.last_of("receive_buffer");
    CHECK(sample.value.integer > 0);
    CHECK((sample.quality == Quality::good) == (sample.value.integer >= 1'048'576));
}

TEST_CASE("new names beyond the limit are dropped and counted", "[device][udp]") {
    UdpDriverOptions options;
    options.channels_max = 2;
    UdpFixture udp(options);
    udp.sender->send("a:1|g\nb:1|g\nc:1|g\nd:1|c\nc:1|g\na:2|g");
    REQUIRE(udp.reads_until("a", 2));
    CHECK_FALSE(udp.has("c"));
    CHECK_FALSE(udp.has("d"));
    CHECK(udp.count_of("fields.refused") == 3);
    CHECK(udp.count_of("lines.refused") == 0);
}

TEST_CASE("each value of a series without a channel, because the device has its share of them, is counted",
          "[device][udp]") {
    UdpFixture udp;
    ChannelTable& channels = udp.bench->channels();
    while (channels.size() < ChannelTable::channels_max - 1) {
        REQUIRE(channels.add(DeviceId{1}, "other", std::to_string(channels.size()), ""));
    }
    udp.sender->send("a:1|g\nb:1|g\na:2|g");
    REQUIRE(udp.reads_until("fields.refused", 2));
    CHECK(udp.count_of("fields.refused") == 3);
    CHECK(udp.count_of("lines.refused") == 0);
    CHECK(channels.crowd().value_or(ChannelTable::Crowd()).device == "device");
}

TEST_CASE("a UDP device without datagrams produces no samples and does not fail", "[device][udp]") {
    UdpFixture udp;
    udp.read();
    CHECK(udp.bench->samples().empty());
}

TEST_CASE("the cancel signal ends the wait for datagrams", "[device][udp]") {
    UdpFixture udp;
    std::thread canceller([&] { udp.bench->cancel.set(); });
    CHECK(eventually([&] { return udp.bench->read().status == ReadResult::Status::interrupted; }));
    canceller.join();
    CHECK(udp.bench->read().status == ReadResult::Status::interrupted);
    udp.bench->cancel.clear();
    udp.sender->send("a:1|g");
    CHECK(udp.reads_until("a"));
}

TEST_CASE("a multicast group is joined", "[device][udp]") {
    UdpDriverOptions options;
    options.multicast_group = "239.255.77.13";
    DriverBench probe(std::make_unique<udp::UdpDriver>([&] {
        UdpDriverOptions any_port = options;
        any_port.port = 0;
        return any_port;
    }()));
    if (!probe.reads_ok()) {
        WARN("no multicast here: " << probe.what);
        return;
    }
    UdpFixture udp(options);
    udp.sender->send("a:1|g");
    CHECK(udp.reads_until("a"));
}

TEST_CASE("datagrams in the socket at a reset or at the end are counted as lost", "[device][udp]") {
    UdpFixture udp;
    const auto send_three = [&] {
        for (int number = 0; number < 3; ++number) {
            udp.sender->send("hits:1|c");
        }
    };
    send_three();
    udp.bench->driver().reset();
    udp.read();
    CHECK(udp.bench->batch().lost_at_source() == 3);
    udp.sender.emplace(udp.driver().port());
    send_three();
    udp.bench->driver().close(udp.bench->batch());
    CHECK(udp.bench->batch().lost_at_source() == 6);
    CHECK_FALSE(udp.has("hits"));
}

TEST_CASE("totals and names are kept after a reset", "[device][udp]") {
    UdpFixture udp;
    udp.sender->send("hits:1|c");
    REQUIRE(udp.reads_until("hits"));
    udp.bench->driver().reset();
    udp.read();
    udp.sender.emplace(udp.driver().port());
    udp.sender->send("hits:1|c");
    REQUIRE(udp.reads_until("hits", 2));
    CHECK(udp.count_of("hits") == 2);
}

TEST_CASE("lines of known metrics allocate nothing", "[device][udp]") {
    const auto [format, text] = GENERATE(table<DatagramFormat, std::string>(
        {{DatagramFormat::statsd, "hits:1|c|#b:2,a\nlevel:+1|g\ntook:1.5:2|ms\nnonsense\n"},
         {DatagramFormat::influx, "cpu,host=a\\ b usage=1.5,n=3i,mode=\"idle\" 1700000000000000000\nnonsense\n"},
         {DatagramFormat::json, R"({"name":"x","a":1,"b":{"c":[1.5,true,"text"]},"at":"2023-11-14T22:13:20Z"})"}}));
    UdpDriverOptions options;
    options.port = 0;
    options.format = format;
    options.rules.use_time = true;
    options.rules.time_member = "at";
    options.rules.name_member = "name";
    udp::UdpDriver driver(options);
    const SystemClock clock;
    ChannelTable channels;
    std::size_t samples = 0;
    SampleBatch batch(clock, channels, {DeviceId{0}, "d"},
                      [&](std::span<const TelemetrySample> more) { samples += more.size(); });
    driver.open(batch);
    batch.go_on_from({});
    (void)driver.read(batch, clock.mono_now());
    const UdpSender sender(driver.port());
    const auto take = [&, &datagram = text] {
        sender.send(datagram);
        (void)driver.read(batch, clock.mono_now());
        batch.flush();
    };
    take();
    const std::uint64_t before = allocations();
    for (int turn = 0; turn < 20; ++turn) {
        take();
    }
    const std::uint64_t after = allocations();
    CHECK(samples >= 60);
    CHECK(after == before);
}
