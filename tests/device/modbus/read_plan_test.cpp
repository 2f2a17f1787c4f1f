#include "modbus/read_plan.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::modbus;

namespace {

AddressRange holding(std::uint16_t address, std::uint16_t count = 1, std::uint8_t unit = 1) {
    return {unit, ModbusTable::holding, address, count};
}

/// "unit/function-ish table:address+count[channels]" of every read, separated by blanks.
std::string words(const ReadPlan& plan) {
    std::string all;
    for (const PlannedRead& read : plan.reads()) {
        const AddressRange& s = read.range;
        all += (all.empty() ? "" : " ") + std::to_string(s.unit) + "/" + std::to_string(static_cast<int>(s.table)) +
               ":" + std::to_string(s.address) + "+" + std::to_string(s.count) + "[";
        for (const std::uint32_t channel : plan.channels_of(read)) {
            all += (all.back() == '[' ? "" : ",") + std::to_string(channel);
        }
        all += ']';
    }
    return all;
}

}  // namespace

TEST_CASE("adjacent channels share a request, regardless of their order", "[device][modbus]") {
    CHECK(words(ReadPlan({holding(102, 2), holding(100), holding(101)}, {})) == "1/2:100+4[1,2,0]");
}

TEST_CASE("a gap is read if it is not longer than allowed", "[device][modbus]") {
    CHECK(words(ReadPlan({holding(0), holding(9)}, {8})) == "1/2:0+10[0,1]");
    CHECK(words(ReadPlan({holding(0), holding(10)}, {8})) == "1/2:0+1[0] 1/2:10+1[1]");
    CHECK(words(ReadPlan({holding(0), holding(2)}, {0})) == "1/2:0+1[0] 1/2:2+1[1]");
    CHECK(words(ReadPlan({holding(0), holding(1)}, {0})) == "1/2:0+2[0,1]");
}

TEST_CASE("a gap of bits may be sixteen times as long as one of registers", "[device][modbus]") {
    const AddressRange first{1, ModbusTable::coil, 0, 1};
    CHECK(words(ReadPlan({first, {1, ModbusTable::coil, 17, 1}}, {1})) == "1/0:0+18[0,1]");
    CHECK(words(ReadPlan({first, {1, ModbusTable::coil, 18, 1}}, {1})) == "1/0:0+1[0] 1/0:18+1[1]");
}

TEST_CASE("units and tables do not share requests", "[device][modbus]") {
    const ReadPlan plan({holding(0, 1, 2), {1, ModbusTable::input, 0, 1}, holding(1), {1, ModbusTable::coil, 0, 1}},
                        {});
    CHECK(words(plan) == "1/0:0+1[3] 1/2:1+1[2] 1/3:0+1[1] 2/2:0+1[0]");
}

TEST_CASE("a request has at most the allowed number of registers, and no value is divided", "[device][modbus]") {
    std::vector<AddressRange> channels;
    for (std::uint16_t i = 0; i < 40; ++i) {
        channels.push_back(holding(static_cast<std::uint16_t>(4 * i), 4));
    }
    const ReadPlan plan(channels, {});
    REQUIRE(plan.reads().size() == 2);
    CHECK(plan.reads()[0].range.count == 124);
    CHECK(plan.reads()[1].range.address == 124);
    CHECK(plan.reads()[1].range.count == 36);
    CHECK(words(ReadPlan({holding(0, 4), holding(4, 4)}, {8, 4})) == "1/2:0+4[0] 1/2:4+4[1]");
}

TEST_CASE("a request has at most 2000 bits", "[device][modbus]") {
    std::vector<AddressRange> channels;
    for (std::uint16_t i = 0; i < 2'001; ++i) {
        channels.push_back({1, ModbusTable::discrete, i, 1});
    }
    const ReadPlan plan(channels, {});
    REQUIRE(plan.reads().size() == 2);
    CHECK(plan.reads()[0].range.count == 2'000);
    CHECK(plan.reads()[1].range.count == 1);
}

TEST_CASE("channels may overlap", "[device][modbus]") {
    CHECK(words(ReadPlan({holding(1), holding(0, 4), holding(0), holding(2, 4)}, {})) == "1/2:0+6[1,2,0,3]");
}

TEST_CASE("the last register can be read", "[device][modbus]") {
    CHECK(words(ReadPlan({holding(65'532, 4), holding(65'535)}, {})) == "1/2:65532+4[0,1]");
}

TEST_CASE("a request is split in halves until each channel is read separately", "[device][modbus]") {
    ReadPlan plan({holding(0), holding(1, 2), holding(5), holding(0, 1, 2)}, {});
    CHECK_FALSE(plan.is_split());
    CHECK(plan.split(0));
    CHECK(words(plan) == "1/2:0+1[0] 1/2:1+5[1,2] 2/2:0+1[3]");
    CHECK_FALSE(plan.split(0));
    CHECK(plan.split(1));
    CHECK(words(plan) == "1/2:0+1[0] 1/2:1+2[1] 1/2:5+1[2] 2/2:0+1[3]");
    CHECK_FALSE(plan.split(1));
    CHECK(plan.is_split());
    plan.merge();
    CHECK_FALSE(plan.is_split());
    CHECK(words(plan) == "1/2:0+6[0,1,2] 2/2:0+1[3]");
}

TEST_CASE("channels of the same registers stay together when a request is split", "[device][modbus]") {
    ReadPlan plan({holding(0), holding(0), holding(4, 2), holding(5), holding(5, 2)}, {});
    CHECK(plan.split(0));
    CHECK(words(plan) == "1/2:0+1[0,1] 1/2:4+3[2,4,3]");
    CHECK_FALSE(plan.split(0));
    CHECK(plan.split(1));
    CHECK(words(plan) == "1/2:0+1[0,1] 1/2:4+2[2] 1/2:5+2[4,3]");
}

TEST_CASE("one rejected register of many is found with few requests", "[device][modbus]") {
    std::vector<AddressRange> channels;
    for (std::uint16_t i = 0; i < 125; ++i) {
        channels.push_back(holding(i));
    }
    const auto bad = GENERATE(values<std::uint16_t>({0, 1, 62, 63, 123, 124}));
    ReadPlan plan(channels, {});
    std::size_t requests = 0;
    for (std::size_t read = 0; read < plan.reads().size(); ++read) {
        const auto is_rejected = [&] {
            const AddressRange& range = plan.reads()[read].range;
            ++requests;
            return range.address <= bad && bad < range.end();
        };
        while (is_rejected() && plan.split(read)) {
        }
    }
    CHECK(requests <= 16);
    CHECK(plan.reads().size() <= 8);
    for (const PlannedRead& read : plan.reads()) {
        CHECK((read.range.count == 1 || bad < read.range.address || bad >= read.range.end()));
    }
}
