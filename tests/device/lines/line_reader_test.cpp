#include "lines/line_reader.hpp"
#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "device/allocation_counter.hpp"
#include "support/catch.hpp"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {
namespace {

/// A batch whose samples are converted to text.
class WordBatch {
  public:
    WordBatch() { samples.reserve(10'000); }

    SystemClock clock;
    ChannelTable channels;
    std::vector<TelemetrySample> samples;
    SampleBatch batch{clock, channels, {DeviceId{0}, "device"}, [this](std::span<const TelemetrySample> more) {
                          samples.insert(samples.end(), more.begin(), more.end());
                      }};

    /// Returns the names of the channels of all samples since the last call, with whole-number values.
    std::string reported() {
        batch.flush();
        std::string text;
        for (const TelemetrySample& sample : samples) {
            text += (text.empty() ? "" : " ") + channels.at(sample.channel).channel;
            text += sample.type == ValueType::integer ? "=" + std::to_string(sample.value.integer) : "";
            text += sample.quality == Quality::bad ? "=bad" : "";
        }
        samples.clear();
        return text;
    }
};

TEST_CASE("fields become samples of the channels with their names", "[device][lines]") {
    WordBatch f;
    LineReader reader({}, {.line_bytes_max = 256, .channels_max = 8});
    CHECK(reader.feed("Temp=1\nTemp= ok=2\n", f.batch) == 2);
    CHECK(f.reported() == "temp=1 temp=bad ok=2");
    CHECK(f.channels.size() == 2);
}

TEST_CASE("names that become equal as channel names never share a channel", "[device][lines]") {
    const std::string line = GENERATE("t(in)=1 t[in]=2", "\xE6\xB8\xA9=1 \xE6\xB9\xBF=2", "Temp=1 temp=2");
    CAPTURE(line);
    WordBatch f;
    LineReader reader({}, {.line_bytes_max = 1'024, .channels_max = 8});
    CHECK(reader.feed(line + '\n', f.batch) == 1);
    const std::string first = f.reported();
    CHECK(f.channels.size() == 2);
    CHECK(reader.feed(line + '\n', f.batch) == 1);
    CHECK(f.reported() == first);
    SECTION("whatever their order") {
        const std::size_t blank = line.find(' ');
        WordBatch g;
        LineReader other({}, {.line_bytes_max = 1'024, .channels_max = 8});
        CHECK(other.feed(line.substr(blank + 1) + ' ' + line.substr(0, blank) + '\n', g.batch) == 1);
        const std::string reversed = g.reported();
        const std::size_t between = first.find(' ');
        CHECK(reversed == first.substr(between + 1) + ' ' + first.substr(0, between));
    }
}

TEST_CASE("fields with names that are too long for a channel stay distinct", "[device][lines]") {
    WordBatch f;
    LineReader reader({}, {.line_bytes_max = 1'024, .channels_max = 8});
    const std::string stem(100, 'x');
    CHECK(reader.feed(stem + "1=1 " + stem + "2=2\n", f.batch) == 1);
    CHECK(f.channels.size() == 2);
    CHECK(reader.feed(std::string(600, 'x') + "=1\n", f.batch) == 1);
    CHECK(f.channels.size() == 2);
    CHECK(f.batch.last_refused().starts_with("no channel for field"));
}

TEST_CASE("a whole number that a double cannot represent is uncertain", "[device][lines]") {
    WordBatch f;
    LineReader reader({}, {});
    CHECK(reader.feed("a=18446744073709551615 b=9223372036854775807\n", f.batch) == 1);
    f.batch.flush();
    REQUIRE(f.samples.size() == 2);
    CHECK(f.samples[0].quality == Quality::uncertain);
    CHECK(f.samples[1].quality == Quality::good);
}

TEST_CASE("fields with names beyond the limit produce no samples and are counted", "[device][lines]") {
    WordBatch f;
    LineReader reader({}, {.line_bytes_max = 64, .channels_max = 2});
    CHECK(reader.feed("a=1 b=1 c=1 a=1 c=1\n", f.batch) == 1);
    CHECK(f.reported() == "a=1 b=1 a=1");
    CHECK(f.channels.size() == 2);
}

TEST_CASE("a field with the name of a counter channel gets another channel", "[device][lines]") {
    WordBatch f;
    LineReader reader({}, {.line_bytes_max = 64, .channels_max = 4});
    reader.open(f.batch);
    CHECK(reader.feed("Lines.Refused=7\nok=1\n", f.batch) == 2);
    reader.report_counts(f.batch, false);
    const std::string told = f.reported();
    CHECK(told.starts_with("lines.refused_"));
    CHECK(told.ends_with(" ok=1 lines.refused=0"));
}

TEST_CASE("a byte order mark before the first line is ignored", "[device][lines]") {
    WordBatch f;
    LineReader reader({}, {});
    CHECK(reader.feed("\xEF\xBB\xBF"
                      "a=1\n",
                      f.batch) == 1);
    CHECK(f.reported() == "a=1");
}

TEST_CASE("counters of lines are sent when they change", "[device][lines]") {
    WordBatch f;
    LineReader reader({}, {.line_bytes_max = 16, .channels_max = 2});
    reader.open(f.batch);
    CHECK(reader.feed("a=1\nb=", f.batch) == 1);
    reader.report_counts(f.batch, false);
    reader.report_counts(f.batch, false);
    CHECK(f.reported() == "a=1 lines.refused=0");

    CHECK(reader.feed("2\nwrong\n\n" + std::string(17, 'x') + "\n", f.batch) == 1);
    CHECK(reader.why_refused() == "longer than 16 bytes");
    CHECK(f.batch.last_refused() == "line is longer than 16 bytes");
    CHECK(f.batch.refusals() == 2);
    reader.report_counts(f.batch, false);
    CHECK(f.reported() == "b=2 lines.refused=2");
    CHECK(reader.ignored() == 1);

    CHECK(reader.feed("a=1 c=1\n", f.batch) == 1);
    CHECK(reader.why_refused() == "no channel for field \"c\": the limit of 2 names is reached");
    reader.report_counts(f.batch, false);
    CHECK(f.reported() == "a=1 fields.refused=1");
    reader.report_counts(f.batch, true);
    CHECK(f.reported() == "lines.refused=2 fields.refused=1");
    CHECK(reader.feed("a=7", f.batch) == 0);
    CHECK(reader.finish(f.batch) == 1);
    CHECK(f.reported() == "a=7");
}

TEST_CASE("a line end in a quoted text forges no sample, regardless of how the bytes are split", "[device][lines]") {
    const LineFormat csv{.kind = LineFormat::Kind::csv, .columns = {"a", "b", "c"}};
    const auto [format, bytes, told] = GENERATE_COPY(table<LineFormat, std::string, std::string>({
        {{}, "a=\"x\nb=7\n\" c=2\nd=3\n", "a c=2 d=3"},
        {{}, "a=\"x\r\nb=7\r\n\" c=2\r\nd=3\r\n", "a c=2 d=3"},
        {{}, "a=\"x\\\n\\\"\nb=7\n\"\nd=3\n", "a d=3"},
        {{}, "no field a=\"x\nb=7\n\"\nd=3\n", "d=3"},
        {{}, "a=b=\"x\nb=7\nc=\"x\" d\ne=1\n", "a b=7 e=1"},
        {{}, "# a=\"x\nb=7\n", "b=7"},
        {csv, "1,\"x\n7,8,9\ny\",3\n4,5,6\n", "a=1 b c=3 a=4 b=5 c=6"},
        {csv, "1,\"x\"\"\r\n7,8,9\r\n\"\"\",3\r\n4,5,6\r\n", "a=1 b c=3 a=4 b=5 c=6"},
        {csv, "1,2,3,\"x\n7,8,9\ny\"\n4,5,6\n", "a=4 b=5 c=6"},
        {csv, "1,2 \"x,3\n4,5,6\n", "a=1 b c=3 a=4 b=5 c=6"},
        {csv, "#\"x\n4,5,6\n", "a=4 b=5 c=6"},
    }));
    for (std::size_t part_bytes = 1; part_bytes <= bytes.size(); ++part_bytes) {
        CAPTURE(bytes, part_bytes);
        WordBatch f;
        LineReader reader(format, {.line_bytes_max = 64, .channels_max = 8});
        for (std::size_t at = 0; at < bytes.size(); at += part_bytes) {
            (void)reader.feed(std::string_view(bytes).substr(at, part_bytes), f.batch);
        }
        (void)reader.finish(f.batch);
        CHECK(f.reported() == told);
    }
}

TEST_CASE("a quoted text without an end costs no more than the longest line", "[device][lines]") {
    WordBatch f;
    LineReader reader({}, {.line_bytes_max = 16, .channels_max = 8});
    CHECK(reader.feed("a=\"x\nb=7\nc=8\nd=9\ne=10\n", f.batch) == 1);
    CHECK(f.reported() == "e=10");
    CHECK(reader.refused() == 1);
    CHECK(reader.feed("a=\"x\nb=7\n", f.batch) == 0);
    CHECK(reader.finish(f.batch) == 0);
    CHECK(reader.refused() == 2);
}

TEST_CASE("a refused line produces no samples", "[device][lines]") {
    WordBatch f;
    LineReader reader({}, {});
    reader.open(f.batch);
    CHECK(reader.feed("a=1 b=2 c\n", f.batch) == 0);
    CHECK(f.reported().empty());
    CHECK(f.channels.size() == 1);
    CHECK(reader.why_refused() == "no NAME=VALUE at \"c\"");
    CHECK(f.batch.last_refused() == "no NAME=VALUE at \"c\": \"a=1 b=2 c\"");
    CHECK(f.batch.refusals() == 1);
}

TEST_CASE("bytes that arrive one by one give the same samples as all at once", "[device][lines]") {
    const std::string bytes = "a=1 b=x\r\nc=\"2 3\"\rwrong\n\xFF\n" + std::string(2'000, 'x') + "\na=\nlast=1\n";
    const auto outcome = [&](std::size_t part_bytes) {
        WordBatch f;
        LineReader reader({}, {});
        reader.open(f.batch);
        for (std::size_t at = 0; at < bytes.size(); at += part_bytes) {
            reader.feed(std::string_view(bytes).substr(at, part_bytes), f.batch);
        }
        reader.report_counts(f.batch, false);
        return f.reported();
    };
    CHECK(outcome(bytes.size()) == "a=1 b c a=bad last=1 lines.refused=3");
    for (std::size_t part_bytes = 1; part_bytes < 30; ++part_bytes) {
        CHECK(outcome(part_bytes) == outcome(bytes.size()));
    }
}

TEST_CASE("nothing is allocated when the names are known", "[device][lines]") {
    LineFormat csv{.kind = LineFormat::Kind::csv, .columns = {"a", "-", "b[m]"}};
    const std::string_view csv_lines = "1.5,\"with \"\"quotes\"\" and more than a short string\",text\n1,2,3\n";
    LineFormat nmea{.kind = LineFormat::Kind::nmea};
    const std::string_view nmea_lines =
        "$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n$GLGSV,2,1,08,01,40,083,46*52\r\n";
    const std::string_view key_values = "a=1 b=\"a \\\"quoted\\\" text that is long enough\" c=on\nwrong\n";
    for (const auto& [format, lines] : {std::pair{LineFormat{}, key_values}, {csv, csv_lines}, {nmea, nmea_lines}}) {
        WordBatch f;
        LineReader reader(format, {});
        reader.open(f.batch);
        reader.feed(lines, f.batch);
        reader.feed(lines, f.batch);
        reader.report_counts(f.batch, false);
        const std::uint64_t before = test::allocations();
        std::size_t good = 0;
        for (int i = 0; i < 100; ++i) {
            good += reader.feed(lines.substr(0, 7), f.batch);
            good += reader.feed(lines.substr(7), f.batch);
            reader.report_counts(f.batch, false);
        }
        const std::uint64_t after = test::allocations();
        CAPTURE(lines);
        CHECK(good >= 100);
        CHECK(after == before);
    }
}

}  // namespace
}  // namespace telegate
