#include "device/nanoseconds.hpp"
#include "udp_fixture.hpp"

#include <map>
#include <set>
#include <string>

using namespace telegate;
using namespace telegate::test;

namespace {

UdpDriverOptions with(DatagramFormat format) {
    UdpDriverOptions options;
    options.format = format;
    return options;
}

UdpDriverOptions with_time(DatagramFormat format) {
    UdpDriverOptions options = with(format);
    options.rules.use_time = true;
    options.rules.time_member = "at";
    options.rules.name_member = "name";
    return options;
}

}  // namespace

TEST_CASE("a counter beyond the range of whole numbers continues as a real number", "[device][udp]") {
    UdpFixture udp;
    std::string datagram;
    for (int line = 0; line < 40; ++line) {
        datagram += "much:9007199254740992|c\n";
    }
    for (int round = 0; round < 30; ++round) {
        udp.sender->send(datagram);
        REQUIRE(udp.reads_until("much", static_cast<std::size_t>(round) + 1));
    }
    CHECK(udp.last_of("much").type == ValueType::real);
    CHECK(udp.last_of("much").value.real == 1'200.0 * 0x1p53);
}

TEST_CASE("a counter is a running total of its lines, with sampling rates applied", "[device][udp]") {
    UdpFixture udp;
    udp.sender->send("hits:1|c\nhits:2|c|@0.5\nhits:-1|c");
    REQUIRE(udp.reads_until("hits"));
    CHECK(udp.last_of("hits").type == ValueType::integer);
    CHECK(udp.last_of("hits").value.integer == 4);
    CHECK(udp.samples_of("hits").size() == 1);  // one sample for all lines that arrived together
    udp.sender->send("hits:0.5|c");
    REQUIRE(udp.reads_until("hits", 2));
    CHECK(udp.last_of("hits").type == ValueType::real);
    CHECK(udp.last_of("hits").value.real == 4.5);
}

TEST_CASE("a gauge is a value, or with a sign a change of the value", "[device][udp]") {
    UdpFixture udp;
    udp.sender->send("level:10|g\nlevel:+2.5|g\nlevel:-20|g\nother:-3|g");
    REQUIRE(udp.reads_until("other"));
    const auto samples = udp.samples_of("level");
    REQUIRE(samples.size() == 3);
    CHECK(samples[0].value.real == 10);
    CHECK(samples[1].value.real == 12.5);
    CHECK(samples[2].value.real == -7.5);
    CHECK(udp.last_of("other").value.real == -3);
}

TEST_CASE("timings are in ms, distributions have no unit", "[device][udp]") {
    UdpFixture udp;
    udp.sender->send("t:3.5:4|ms\nd:7|h");
    REQUIRE(udp.reads_until("d"));
    CHECK(udp.samples_of("t").size() == 2);
    CHECK(udp.bench->channels().at(udp.last_of("t").channel).unit == "ms");
    CHECK(udp.bench->channels().at(udp.last_of("d").channel).unit.empty());
}

TEST_CASE("tags are part of the name, sorted", "[device][udp]") {
    UdpFixture udp;
    udp.sender->send("Req Count:1|c|#zone:b,env:prod,fast\nReq Count:1|c|#fast,env:prod,zone:b");
    REQUIRE(udp.reads_until("req_count.env_prod.fast.zone_b"));
    CHECK(udp.count_of("req_count.env_prod.fast.zone_b") == 2);
}

TEST_CASE("metrics with names that would be equal are distinguished", "[device][udp]") {
    UdpFixture udp;
    udp.sender->send("x:1|g\nX:2|g\nx:3|c\nlines.refused:4|g\nx:5|g\nend:0|g");
    REQUIRE(udp.reads_until("end"));
    REQUIRE(udp.samples_of("x").size() == 2);
    CHECK(udp.last_of("x").quality == Quality::bad);  // its series has moved
    CHECK(udp.count_of("lines.refused") == 0);
    std::size_t with_digits = 0;
    for (const TelemetrySample& sample : udp.all) {
        const std::string& name = udp.bench->name_of(sample);
        with_digits += name.starts_with("x_") || name.starts_with("lines.refused_") ? 1U : 0U;
    }
    CHECK(with_digits == 4);
}

TEST_CASE("the channel of a series does not depend on which series arrived first", "[device][udp]") {
    const auto [format, one, other] = GENERATE(
        table<DatagramFormat, std::string, std::string>({{DatagramFormat::statsd, "x:1|g", "x:2|c"},
                                                         {DatagramFormat::statsd, "a.b:1|g", "a:2|g|#b"},
                                                         {DatagramFormat::influx, "m,host=a v=1i", "m,rack=a v=2i"},
                                                         {DatagramFormat::influx, "M v=1i", "m v=2i"},
                                                         {DatagramFormat::json, "{\"T(in)\":1}", "{\"T[in]\":2}"}}));
    CAPTURE(one, other);
    const auto names_of = [chosen = format](const std::string& first, const std::string& second) {
        UdpFixture udp(with(chosen));
        udp.sender->send(first);
        udp.sender->send(second);
        udp.sender->send(first);
        udp.sender->send(second);
        udp.sender->send("done");
        REQUIRE(udp.reads_until("lines.refused", 2));
        std::map<double, std::string> names;  // the last one of each series, by its value
        for (const TelemetrySample& sample : udp.all) {
            const std::string& name = udp.bench->name_of(sample);
            if (sample.quality == Quality::good && name.find("refused") == std::string::npos &&
                name != "receive_buffer") {
                const bool is_real = sample.type == ValueType::real;
                const double value = is_real ? sample.value.real : static_cast<double>(sample.value.integer);
                names[value > 2 ? 2 : value] = name;
            }
        }
        return names;
    };
    const auto names = names_of(one, other);
    CHECK(names.size() == 2);
    CHECK(names == names_of(other, one));
}

TEST_CASE("a series with a suffix keeps its channel when more series with its name arrive", "[device][udp]") {
    UdpFixture udp;
    std::map<double, std::set<std::string>> names;  // by value
    const std::vector<std::string> lines{"Hits:1|g", "hits:2|g", "HITS:3|g", "Hits:1|g", "hits:2|g", "hItS:4|g"};
    for (int round = 0; round < 2; ++round) {
        for (const std::string& line : lines) {
            udp.sender->send(line);
        }
    }
    udp.sender->send("done");
    REQUIRE(udp.reads_until("lines.refused", 2));
    for (const TelemetrySample& sample : udp.all) {
        if (sample.type == ValueType::real) {
            names[sample.value.real].insert(udp.bench->name_of(sample));
        }
    }
    CHECK(names[1].size() == 2);  // the first one without a suffix
    CHECK(names[2].size() == 1);
    CHECK(names[3].size() == 1);
    CHECK(names[4].size() == 1);
    SECTION("even if a series has the name with the suffix as its own") {
        const std::string taken = *names[2].begin();
        UdpFixture other;
        other.sender->send(taken + ":5|g\nHits:1|g\nhits:2|g\n" + taken + ":6|g\nhits:2|g\ndone");
        REQUIRE(other.reads_until("lines.refused", 2));
        CHECK(other.last_of(taken).value.real == 2);
        CHECK(other.last_of(taken).quality == Quality::good);
    }
}

TEST_CASE("names that are too long for a channel stay distinct", "[device][udp]") {
    UdpFixture udp;
    const std::string stem(100, 'a');
    udp.sender->send(stem + "1:1|g\n" + stem + "2:2|g\nend:0|g");
    REQUIRE(udp.reads_until("end"));
    CHECK(udp.bench->batch().channels() == 4 + 3);
    udp.sender->send(std::string(600, 'a') + ":1|g\nend:1|g");
    REQUIRE(udp.reads_until("end", 2));
    CHECK(udp.count_of("fields.refused") == 1);
}

TEST_CASE("an Influx line gives a channel for each field", "[device][udp]") {
    UdpFixture udp(with(DatagramFormat::influx));
    udp.sender->send("# a comment\ncpu,host=Web\\ 1,cpu=cpu0 usage=12.5,n=3i,up=t,mode=\"idle\"\n\nmem free=7i");
    REQUIRE(udp.reads_until("mem.free"));
    CHECK(udp.last_of("cpu.cpu0.web_1.usage").value.real == 12.5);
    CHECK(udp.last_of("cpu.cpu0.web_1.n").value.integer == 3);
    CHECK(udp.last_of("cpu.cpu0.web_1.up").value.boolean);
    CHECK(udp.last_of("cpu.cpu0.web_1.mode").text() == "idle");
    CHECK(udp.count_of("lines.refused") == 0);
}

TEST_CASE("a line end in a quoted Influx text does not forge a sample", "[device][udp]") {
    UdpFixture udp(with(DatagramFormat::influx));
    udp.sender->send("syslog,host=a message=\"restarted\nboiler,loop=1 temp=999\nend\",pid=5i\nm end=1");
    REQUIRE(udp.reads_until("m.end"));
    CHECK_FALSE(udp.has("boiler.1.temp"));
    CHECK(udp.last_of("syslog.a.pid").value.integer == 5);
    CHECK(udp.last_of("syslog.a.message").text() == "restarted\nboiler,loop=1 temp=999");
}

TEST_CASE("only the value that has no number is bad", "[device][udp]") {
    const auto [format, text, bad, uncertain] = GENERATE(table<DatagramFormat, std::string, std::string, std::string>(
        {{DatagramFormat::statsd, "b:nan|g\nu:9007199254740993|g\nok:1|g", "b", "u"},
         {DatagramFormat::statsd, "b:1e999|c\nu:9007199254740993|c\nok:1|g", "b", "u"},
         {DatagramFormat::statsd, "b:1.#QNAN|g\nu:9007199254740993|g\nok:1|g", "b", "u"},
         {DatagramFormat::influx, "m b=inf,u=18446744073709551615u,ok=1", "m.b", "m.u"},
         {DatagramFormat::influx, "m b=-nan(ind),u=18446744073709551615u,ok=1", "m.b", "m.u"},
         {DatagramFormat::json, "{\"b\":-Infinity,\"u\":18446744073709551615,\"ok\":1}", "b", "u"}}));
    CAPTURE(text);
    UdpFixture udp(with(format));
    udp.sender->send(text);
    REQUIRE(udp.reads_until(format == DatagramFormat::influx ? "m.ok" : "ok"));
    CHECK(udp.last_of(bad).quality == Quality::bad);
    REQUIRE(udp.reads_until(uncertain));
    CHECK(udp.last_of(uncertain).quality == Quality::uncertain);
    CHECK(udp.count_of("lines.refused") == 0);
}

TEST_CASE("the first of duplicate JSON members counts", "[device][udp]") {
    UdpFixture udp(with_time(DatagramFormat::json));
    udp.sender->send(R"({"at":1700000000,"at":1700000001,"v":1,"v":2,"\u0076":3,"name":"a","name":"b","end":0})");
    REQUIRE(udp.reads_until("a.end"));
    REQUIRE(udp.samples_of("a.v").size() == 1);
    CHECK(udp.last_of("a.v").value.integer == 1);
    CHECK(udp.last_of("a.v").time_utc_ns == 1'700'000'000 * second_ns);
}

TEST_CASE("the first of duplicate JSON members counts, whatever their values are", "[device][udp]") {
    const auto [text, channels] = GENERATE(table<std::string, std::set<std::string>>({
        {R"({"a":{"b":1},"a":{"b":2,"c":3},"end":0})", {"a.b"}},
        {R"({"a":[1],"a":[2,3],"end":0})", {"a.0"}},
        {R"({"a":1,"\u0061":{"b":2},"end":0})", {"a"}},
        {R"({"a":{"b":1},"a":2,"end":0})", {"a.b"}},
        {R"({"a":{},"a":{"b":{"b":1}},"c":{"a":1,"b":1},"end":0})", {"c.a", "c.b"}},
    }));
    CAPTURE(text);
    UdpFixture udp(with(DatagramFormat::json));
    udp.sender->send(text);
    REQUIRE(udp.reads_until("end"));
    std::set<std::string> names;
    for (const TelemetrySample& sample : udp.all) {
        const std::string& name = udp.bench->name_of(sample);
        if (name != "end" && name.find("refused") == std::string::npos && name != "receive_buffer") {
            names.insert(name);
            CHECK(sample.value.integer == 1);
        }
    }
    CHECK(names == channels);
}

TEST_CASE("StatsD totals with a time have that time if use_time is set", "[device][udp]") {
    UdpFixture udp(with_time(DatagramFormat::statsd));
    udp.sender->send("hits:1|c|T1700000000\nhits:2|c|T1700000001\nhits:3|c");
    REQUIRE(udp.reads_until("hits", 3));
    const auto samples = udp.samples_of("hits");
    CHECK(samples[0].time_utc_ns == 1'700'000'000 * second_ns);
    CHECK(samples[0].value.integer == 1);
    CHECK(samples[1].time_utc_ns == 1'700'000'001 * second_ns);
    CHECK(samples[1].value.integer == 3);
    CHECK(samples[2].value.integer == 6);
}

TEST_CASE("the time of an Influx line is used if use_time is set", "[device][udp]") {
    UdpFixture udp(with_time(DatagramFormat::influx));
    udp.sender->send("m a=1 1700000000000000000\nm b=1 1700000000\nm old=1 5\nm far=1 99999999999\nm c=1");
    REQUIRE(udp.reads_until("m.c"));
    CHECK(udp.last_of("m.a").time_utc_ns == 1'700'000'000 * second_ns);
    CHECK(udp.last_of("m.b").time_utc_ns == 1'700'000'000 * second_ns);
    CHECK(udp.last_of("m.c").time_utc_ns > 1'700'000'000 * second_ns);
    CHECK_FALSE(udp.has("m.old"));
    CHECK_FALSE(udp.has("m.far"));
    CHECK(udp.count_of("lines.refused") == 2);
}

TEST_CASE("a JSON line is flattened", "[device][udp]") {
    UdpFixture udp(with(DatagramFormat::json));
    udp.sender->send(R"({"a":1,"b":{"c":true,"d":[1.5,{"e":"x\u00e9"},null]},"f":-2e1})");
    REQUIRE(udp.reads_until("f"));
    CHECK(udp.last_of("a").value.integer == 1);
    CHECK(udp.last_of("b.c").value.boolean);
    CHECK(udp.last_of("b.d.0").value.real == 1.5);
    CHECK(udp.last_of("b.d.1.e").text() == "x\xC3\xA9");
    CHECK(udp.last_of("b.d.2").quality == Quality::bad);
    CHECK(udp.last_of("f").value.real == -20);
}

TEST_CASE("members of JSON provide the time and the name", "[device][udp]") {
    UdpFixture udp(with_time(DatagramFormat::json));
    udp.sender->send(
        "{\"v\":1,\"at\":\"2023-11-14T22:13:20Z\",\"name\":\"Boiler\"}\n{\"at\":1700000000.5,\"w\":{\"at\":2}}\n"
        "{\"at\":\"today\",\"x\":1}\n{\"name\":3,\"x\":1}\n{\"at\":null,\"x\":1}");
    REQUIRE(udp.reads_until("w.at"));
    CHECK(udp.last_of("boiler.v").time_utc_ns == 1'700'000'000 * second_ns);
    CHECK(udp.last_of("w.at").time_utc_ns == 1'700'000'000 * second_ns + second_ns / 2);
    CHECK_FALSE(udp.has("x"));
    CHECK_FALSE(udp.has("at"));
    CHECK(udp.count_of("lines.refused") == 3);
}

TEST_CASE("a JSON text that is too long is truncated and flagged", "[device][udp]") {
    UdpFixture udp(with(DatagramFormat::json));
    udp.sender->send("{\"t\":\"" + std::string(32, 'x') + "\",\"u\":\"" + std::string(33, 'x') + "\"}");
    REQUIRE(udp.reads_until("u"));
    CHECK(udp.last_of("t").flags == 0);
    CHECK(udp.last_of("u").flags == sample_flag::text_truncated);
    CHECK(udp.last_of("u").text() == std::string(32, 'x'));
}

TEST_CASE("invalid lines are counted, and the valid ones of the same datagram are used", "[device][udp]") {
    const auto [format, text] = GENERATE(table<DatagramFormat, std::string>(
        {{DatagramFormat::statsd, "nonsense\nok:1|g\r\nset:5|s\n"},
         {DatagramFormat::influx, "nonsense\nok a=1 x\nok a=1,b=\nm ok=1\r\n"},
         {DatagramFormat::json, "nonsense\n{\"lost\":1,\"ok\":}\n7\n{\"ok\":1}\r\n"}}));
    UdpFixture udp(with(format));
    const std::string good = format == DatagramFormat::influx ? "m.ok" : "ok";
    udp.sender->send(text);
    REQUIRE(udp.reads_until(good));
    CHECK(udp.count_of("lines.refused") == (format == DatagramFormat::statsd ? 2 : 3));
    CHECK_FALSE(udp.has("lost"));
    CHECK_FALSE(udp.has("ok.a"));
}

TEST_CASE("a refused line is reported with the reason and its beginning", "[device][udp]") {
    const auto [format, line, why] = GENERATE(table<DatagramFormat, std::string, std::string>(
        {{DatagramFormat::statsd, "nonsense", "missing or unknown kind: must be c, m, g, ms, h or d"},
         {DatagramFormat::statsd, ":1|c", "missing name"},
         {DatagramFormat::statsd, "a:x|c", "missing or invalid value: must be a number"},
         {DatagramFormat::statsd, "a:1|c|@2", "invalid sampling rate, time or tags"},
         {DatagramFormat::statsd, "a:1|g|T5", "implausible time: must be from 2000 to one day from now"},
         {DatagramFormat::influx, ",a=b f=1", "missing measurement"},
         {DatagramFormat::influx, "m,a f=1", "invalid tags: must be KEY=VALUE, at most 32, without duplicates"},
         {DatagramFormat::influx, "m", "missing or invalid field: must be KEY=VALUE"},
         {DatagramFormat::influx, "m f=1 x", "invalid time"},
         {DatagramFormat::influx, "m f=1 5", "implausible time: must be from 2000 to one day from now"},
         {DatagramFormat::json, "{\"a\":}", "not a JSON object or array, or nested too deeply"},
         {DatagramFormat::json, "{\"name\":3}", "name_member is not a text"},
         {DatagramFormat::json, "{\"at\":\"x\"}",
          "time_member is not a time: must be a number, or ISO 8601 with an offset or Z"}}));
    UdpFixture udp(with_time(format));
    udp.sender->send(line);
    REQUIRE(udp.reads_until("lines.refused", 2));
    CHECK(udp.bench->batch().last_refused() == why + ": \"" + line + '"');
    CHECK(udp.bench->batch().refusals() == 1);
}

TEST_CASE("packets of a standard StatsD client are parsed", "[device][udp]") {
    // Recorded from python3-statsd 4.0.1: incr, incr with a rate, decr, gauge, gauge with delta, timing, and a
    // pipeline.
    UdpFixture udp;
    for (const char* const packet :
         {"app.hits:1|c", "app.hits:2|c|@0.5", "app.hits:-1|c", "app.depth:12|g", "app.depth:+3|g",
          "app.took:320.000000|ms", "app.took:1.500000|ms\napp.hits:5|c\napp.depth:0|g\napp.depth:-7|g",
          "app.users:bob|s"}) {
        udp.sender->send(packet);
    }
    REQUIRE(udp.reads_until("app.depth", 4));
    CHECK(udp.count_of("app.hits") == 9);
    CHECK(udp.last_of("app.depth").value.real == -7);
    CHECK(udp.samples_of("app.took").front().value.real == 320);
    CHECK(udp.last_of("app.took").value.real == 1.5);
    REQUIRE(udp.reads_until("lines.refused", 2));
    CHECK(udp.count_of("lines.refused") == 1);
}

TEST_CASE("lines of a standard Influx sender are parsed", "[device][udp]") {
    // Recorded from make_lines() of python3-influxdb 5.3.1.
    UdpFixture udp(with_time(DatagramFormat::influx));
    udp.sender->send(
        "cpu\\ load,cpu=cpu0,host=web\\ 1,zone=a\\,b\\=c count=3i,mode=\"idle \\\"deep\\\"\",up=True,usage=12.5 "
        "1700000000000000000\nmem,host=web\\ 1 free=7.0\n");
    REQUIRE(udp.reads_until("mem.web_1.free"));
    CHECK(udp.last_of("cpu_load.cpu0.web_1.a_b_c.count").value.integer == 3);
    CHECK(udp.last_of("cpu_load.cpu0.web_1.a_b_c.mode").text() == "idle \"deep\"");
    CHECK(udp.last_of("cpu_load.cpu0.web_1.a_b_c.up").value.boolean);
    CHECK(udp.last_of("cpu_load.cpu0.web_1.a_b_c.usage").value.real == 12.5);
    CHECK(udp.last_of("cpu_load.cpu0.web_1.a_b_c.usage").time_utc_ns == 1'700'000'000 * second_ns);
    CHECK(udp.last_of("mem.web_1.free").value.real == 7);
    CHECK(udp.count_of("lines.refused") == 0);
}
