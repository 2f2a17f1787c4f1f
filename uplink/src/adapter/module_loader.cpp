#include "uplink/adapter_module.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>
#include <string_view>

namespace telegate::uplink {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view program_version = TELEGATE_MODULE_VERSION;

/// The name of the constant in the module, and of its library.
std::string symbol_of(const std::string& type) {
    return "telegate_uplink_" + type;
}

/// Returns the path of the module if it exists, otherwise where a package installs it.
fs::path find_module(const std::string& type) {
    const std::string name = symbol_of(type) + ".so";
    const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
    fs::path next_to_program = folder / name;
    return fs::exists(next_to_program) ? next_to_program : folder.parent_path() / "lib" / "telegate" / name;
}

}  // namespace

const AdapterModule& load_adapter_module(const std::string& type) {
    const fs::path path = find_module(type);
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char* const reason = ::dlerror();
        throw std::runtime_error("cannot load the library for uplinks of type " + type + ": " +
                                 (reason == nullptr ? path.string() : reason) +
                                 "; the Debian package and builds with this type of uplinks have it");
    }
    const auto* const module = static_cast<const AdapterModule*>(::dlsym(library, symbol_of(type).c_str()));
    if (module == nullptr || module->version != program_version) {
        throw std::runtime_error("cannot use " + path.string() +
                                 ": it belongs to another version of telegate, and this is " +
                                 std::string(program_version));
    }
    return *module;
}

}  // namespace telegate::uplink
