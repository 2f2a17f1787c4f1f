#include "uplink/adapter_module.hpp"

#include <stdexcept>

// Replaces module_loader.cpp in static builds, which cannot load libraries.
namespace telegate::uplink {

const AdapterModule& load_adapter_module(const std::string& type) {
    throw std::runtime_error("this build does not include uplinks of type " + type);
}

}  // namespace telegate::uplink
