#include "uplink/adapter_module.hpp"
#include "uplink/uplink_types.hpp"

#include <stdexcept>

#define TELEGATE_DECLARE_MODULE(type) extern "C" const telegate::uplink::AdapterModule telegate_uplink_##type;
TELEGATE_UPLINK_TYPES(TELEGATE_DECLARE_MODULE)
#undef TELEGATE_DECLARE_MODULE

// Replaces module_loader.cpp in static builds, which cannot load libraries: the modules are parts of the program.
namespace telegate::uplink {

const AdapterModule& load_adapter_module(const std::string& type) {
#define TELEGATE_RETURN_MODULE(name)   \
    if (type == #name) {               \
        return telegate_uplink_##name; \
    }
    TELEGATE_UPLINK_TYPES(TELEGATE_RETURN_MODULE)
#undef TELEGATE_RETURN_MODULE
    throw std::runtime_error("there is no uplink of type " + type);
}

}  // namespace telegate::uplink
