#include "engine.hpp"
#include "libzmq_link.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::perf {

namespace {

using libzmq::Setup;

constexpr std::uint64_t unlimited_bytes_max = 1024 * 1024 * 1024;

struct Variant {
    const char* name;
    Setup setup;
};
constexpr std::array<Variant, 6> variants{{
    {"as reported", {}},
    {"HWM 0", {.unlimited = true}},
    {"message API", {.message_api = true}},
    {"two contexts", {.two_contexts = true}},
    {"two contexts, message API", {.two_contexts = true, .message_api = true}},
    {"two contexts, message API, HWM 0", {.two_contexts = true, .message_api = true, .unlimited = true}},
}};

bool can(const Workload& work, const Setup& setup) {
    // What HWM 0 lets pile up must fit into memory.
    const bool fits = !setup.unlimited || work.messages <= unlimited_bytes_max / work.size / work.receivers;
    // Two processes have a context each anyhow.
    const bool differs = !setup.two_contexts || (work.transport != Transport::inproc && !work.two_processes);
    return is_possible(work) && fits && differs && (!work.curve || zmq_has("curve") == 1);
}

Outcome run(const Workload& work, const Setup& setup) {
    return run_workload<libzmq::Link>(work, setup, libzmq::make_keys(work));
}

}  // namespace

std::vector<Engine> libzmq_engines() {
    std::vector<Engine> engines;
    engines.reserve(variants.size());
    for (const Variant& variant : variants) {
        engines.push_back({"libzmq", variant.name,
                           [&setup = variant.setup](const Workload& work) { return can(work, setup); },
                           [&setup = variant.setup](const Workload& work) {
                               return run(work, setup);
                           }});
    }
    return engines;
}

std::string libzmq_version() {
    int major = 0;
    int minor = 0;
    int patch = 0;
    zmq_version(&major, &minor, &patch);
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

}  // namespace telegate::perf
