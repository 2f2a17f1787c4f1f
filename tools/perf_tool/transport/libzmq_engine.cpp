#include "engine.hpp"
#include "libzmq_link.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace telegate::perf {

namespace {

using libzmq::Setup;

constexpr std::uint64_t unlimited_bytes_max = 1024 * 1024 * 1024;
constexpr int large_buffer_bytes = 1024 * 1024;

struct Variant {
    std::string name;
    Setup setup;
};
[[nodiscard]] std::vector<Variant> variants_with(std::size_t io_threads) {
    std::vector<Variant> variants{
        {"as reported", {}},
        {"HWM 0", {.unlimited = true}},
        {"message API", {.message_api = true}},
        {"message API, HWM 0", {.message_api = true, .unlimited = true}},
        {"message API, 1 MiB buffers", {.message_api = true, .buffer_bytes = large_buffer_bytes}},
        {"two contexts", {.two_contexts = true}},
        {"two contexts, HWM 0", {.two_contexts = true, .unlimited = true}},
        {"two contexts, message API", {.two_contexts = true, .message_api = true}},
        {"two contexts, message API, HWM 0", {.two_contexts = true, .message_api = true, .unlimited = true}},
        {"two contexts, message API, 1 MiB buffers",
         {.two_contexts = true, .message_api = true, .buffer_bytes = large_buffer_bytes}},
    };
    if (io_threads > 1) {
        const int count = static_cast<int>(io_threads);
        const std::string name = std::to_string(io_threads) + " I/O threads";
        variants.push_back({name, {.io_threads = count}});
        variants.push_back({"message API, " + name, {.message_api = true, .io_threads = count}});
        variants.push_back({"two contexts, " + name, {.two_contexts = true, .io_threads = count}});
    }
    return variants;
}

bool can_run_libzmq(const Workload& work, const Setup& setup) {
    // What HWM 0 lets pile up must fit into memory.
    const bool fits = !setup.unlimited || work.messages <= unlimited_bytes_max / work.size / work.receivers;
    const bool needs_sockets = setup.two_contexts || setup.buffer_bytes > 0 || setup.io_threads > 1;
    // Two processes have a context each anyhow.
    const bool differs =
        !(needs_sockets && work.transport == Transport::inproc) && !(setup.two_contexts && work.two_processes);
    return is_possible(work) && fits && differs && (!work.curve || zmq_has("curve") == 1);
}

Outcome run_libzmq(const Workload& work, const Setup& setup) {
    return run_workload<libzmq::Link>(work, setup, libzmq::make_keys(work));
}

}  // namespace

std::vector<Engine> libzmq_engines(std::size_t io_threads) {
    std::vector<Engine> engines;
    for (const Variant& variant : variants_with(io_threads)) {
        engines.push_back({"libzmq", variant.name,
                           [setup = variant.setup](const Workload& work) { return can_run_libzmq(work, setup); },
                           [setup = variant.setup](const Workload& work) {
                               return run_libzmq(work, setup);
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
