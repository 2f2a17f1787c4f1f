#include "engine.hpp"
#include "telegate_links.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace telegate::perf {

namespace {

Outcome run_telegate(const Workload& work, std::size_t io_threads) {
    const TelegateSettings settings = telegate_settings(work, io_threads);
    return work.pattern == Pattern::pubsub ? run_workload<TelegatePubSub>(work, settings)
                                           : run_workload<TelegateRouting>(work, settings);
}

[[nodiscard]] Engine engine_with(std::size_t io_threads, std::string variant) {
    return {"telegate", std::move(variant), is_possible, [io_threads](const Workload& work) {
                return run_telegate(work, io_threads);
            }};
}

}  // namespace

std::vector<Engine> telegate_engines(std::span<const std::size_t> io_threads) {
    std::vector<Engine> engines;
    for (const std::size_t count : io_threads) {
        engines.push_back(engine_with(count, std::to_string(count) + (count == 1 ? " io thread" : " io threads")));
    }
    if (engines.empty()) {
        engines.push_back(engine_with(1, {}));
    }
    return engines;
}

}  // namespace telegate::perf
