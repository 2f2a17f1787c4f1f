#include "uplink/adapter_module.hpp"

#include <stdexcept>

extern "C" const telegate::uplink::AdapterModule telegate_uplink_influxdb;
extern "C" const telegate::uplink::AdapterModule telegate_uplink_nats;

// Replaces module_loader.cpp in static builds, which cannot load libraries: the modules are parts of the program.
namespace telegate::uplink {

const AdapterModule& load_adapter_module(const std::string& type) {
    if (type == "influxdb") {
        return telegate_uplink_influxdb;
    }
    if (type == "nats") {
        return telegate_uplink_nats;
    }
    throw std::runtime_error("this program has no uplinks of type " + type);
}

}  // namespace telegate::uplink
