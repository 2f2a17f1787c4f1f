#include "iio/found_device.hpp"

#include "support/catch.hpp"

using namespace telegate::iio;

TEST_CASE("a channel has the ABI unit of its type", "[device][iio]") {
    auto [name, unit, factor] = GENERATE(table<std::string_view, std::string_view, double>({
        {"voltage0", "mV", 1.0},
        {"voltage0-voltage1", "mV", 1.0},
        {"temp", "Cel", 0.001},
        {"temp_ambient", "Cel", 0.001},
        {"accel_x", "m/s2", 1.0},
        {"anglvel_z", "rad/s", 1.0},
        {"angl", "rad", 1.0},
        {"illuminance", "lx", 1.0},
        {"pressure", "kPa", 1.0},
        {"humidityrelative", "%", 0.001},
        {"magn_x", "G", 1.0},
        {"intensity_both", "", 1.0},
        {"something_new", "", 1.0},
    }));
    CAPTURE(name);
    CHECK(kind_of(name).unit == unit);
    CHECK(kind_of(name).factor == factor);
}

TEST_CASE("an attribute is looked up for the channel, its type, all inputs and all channels", "[device][iio]") {
    using Names = std::vector<std::string>;
    CHECK(attribute_names("accel_x", "scale") == Names{"in_accel_x_scale", "in_accel_scale", "in_scale", "scale"});
    CHECK(attribute_names("voltage0-voltage1", "offset") == Names{"in_voltage0-voltage1_offset",
                                                                  "in_voltage-voltage_offset", "in_voltage_offset",
                                                                  "in_offset", "offset"});
}
