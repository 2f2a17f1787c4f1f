#include "uplink/adapter_module.hpp"

extern "C" const telegate::uplink::AdapterModule telegate_adapter_module;

// Replaces module_loader.cpp in static builds, which cannot load libraries: the only module is part of the program.
namespace telegate::uplink {

const AdapterModule& load_adapter_module(const std::string& /*type*/) {
    return telegate_adapter_module;
}

}  // namespace telegate::uplink
