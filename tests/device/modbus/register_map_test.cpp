#include "modbus/register_map.hpp"
#include "support/catch.hpp"

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

using namespace telegate;
using namespace telegate::modbus;

namespace {

ModbusDriverOptions options_with(ModbusChannel channel) {
    ModbusDriverOptions options;
    options.endpoint = "tcp://127.0.0.1:502";
    channel.name = "a";
    options.channels = {std::move(channel)};
    return options;
}

std::string refusal(const ModbusDriverOptions& options, bool is_rtu) {
    try {
        const RegisterMap map = to_register_map(options, is_rtu);
        return "accepted";
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
}

std::string refusal_after(const std::function<void(ModbusDriverOptions&)>& change, bool is_rtu = true) {
    ModbusDriverOptions options = options_with({});
    change(options);
    return refusal(options, is_rtu);
}

std::string refusal_of(ModbusChannel channel) {
    return refusal(options_with(std::move(channel)), false);
}

}  // namespace

TEST_CASE("by default, a channel is an unsigned register of the device's unit", "[device][modbus]") {
    ModbusDriverOptions options = options_with({.address = 7});
    options.unit_id = 5;
    const RegisterMap map = to_register_map(options, false);
    REQUIRE(map.ranges.size() == 1);
    CHECK(map.ranges[0].unit == 5);
    CHECK(map.ranges[0].table == ModbusTable::holding);
    CHECK(map.ranges[0].address == 7);
    CHECK(map.ranges[0].count == 1);
    CHECK(map.formats[0].type == ModbusType::uint16);
}

TEST_CASE("coils and single bits are booleans", "[device][modbus]") {
    CHECK(to_register_map(options_with({.table = ModbusTable::coil}), false).formats[0].type == ModbusType::boolean);
    CHECK(to_register_map(options_with({.bit = 3}), false).formats[0].type == ModbusType::boolean);
}

TEST_CASE("each unit is listed once", "[device][modbus]") {
    ModbusDriverOptions options = options_with({.unit_id = 9});
    options.channels.push_back({.name = "b", .unit_id = 2});
    options.channels.push_back({.name = "c", .unit_id = 9});
    CHECK(to_register_map(options, false).units == std::vector<std::uint8_t>{2, 9});
}

TEST_CASE("a refused option is reported with its value and what is allowed", "[device][modbus]") {
    using Options = ModbusDriverOptions;
    CHECK(refusal_after([](Options& o) {
              o.baud = 14'400;
          }).starts_with("baud: invalid value: 14400; must be one of 300, 600, "));
    CHECK(refusal_after([](Options& o) { o.data_bits = 7; }).starts_with("data_bits: invalid value: 7; must be 8"));
    CHECK(refusal_after([](Options& o) { o.unit_id = 0; }) == "unit_id: invalid value: 0; must be 1 to 247");
    CHECK(refusal_after([](Options& o) { o.unit_id = 256; }, false) == "unit_id: invalid value: 256; must be 0 to 255");
    CHECK(refusal_after([](Options& o) { o.channels.clear(); }) ==
          "registers: no channels: must be the path of a CSV file, or a [channel] section must have an address");
}

TEST_CASE("options of serial lines are not checked for a connection", "[device][modbus]") {
    CHECK(refusal_after([](ModbusDriverOptions& o) { o.baud = 1; }, false) == "accepted");
}

TEST_CASE("a refused channel is reported with its name", "[device][modbus]") {
    CHECK(refusal_of({.address = -1}) == "channel \"a\": address: invalid value: -1; must be 0 to 65535");
    CHECK(refusal_of({.address = 65'533, .type = ModbusType::float64}) ==
          "channel \"a\": address: invalid value: 65533; must be 0 to 65532");
    CHECK(refusal_of({.unit_id = 300}) == "channel \"a\": unit_id: invalid value: 300; must be 0 to 255");
    CHECK(refusal_of({.type = ModbusType::int32, .bit = 1}).starts_with("channel \"a\": type: "));
    CHECK(refusal_of({.table = ModbusTable::discrete, .type = ModbusType::int16}).starts_with("channel \"a\": type: "));
    CHECK(refusal_of({.table = ModbusTable::coil, .bit = 1}).starts_with("channel \"a\": bit: "));
}

TEST_CASE("a value that does not fit into a request and a duplicate channel are refused", "[device][modbus]") {
    ModbusDriverOptions options = options_with({.type = ModbusType::int64});
    options.registers_max = 3;
    CHECK(refusal(options, false) == "registers_max: invalid value: 3; must be 4 or more, the size of channel \"a\"");
    options.registers_max = 4;
    options.channels.push_back(options.channels.front());
    CHECK(refusal(options, false).starts_with("channel \"a\": name: "));
}

TEST_CASE("a channel cannot have the name of one that the driver creates", "[device][modbus]") {
    ModbusDriverOptions options = options_with({.unit_id = 7});
    const std::string name = GENERATE("unit.7.ok", "unit.7.exception", "Unit.7.OK", "unit 7.ok");
    options.channels.push_back({.name = name, .address = 1});
    const std::string said = refusal(options, false);
    if (name == "unit 7.ok") {  // its topic part is unit_7.ok
        CHECK(said == "accepted");
        return;
    }
    CHECK(said.starts_with("channel \"" + name + "\": name: invalid value: \"unit.7."));
    CHECK(said.find("; must be any name except unit.N.ok and unit.N.exception") != std::string::npos);
    options.channels.front().unit_id = 8;  // now the device has no unit 7
    CHECK(refusal(options, false) == "accepted");
}
