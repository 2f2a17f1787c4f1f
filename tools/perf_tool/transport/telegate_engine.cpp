#include "telegate_links.hpp"

namespace telegate::perf {

std::vector<Engine> telegate_engines(std::span<const std::size_t> io_threads) {
    std::vector<Engine> engines;
    const auto add = [&engines](std::size_t count, const std::string& variant) {
        engines.push_back({"telegate", variant, is_possible, [count](const Workload& work) {
                               const TelegateSettings settings = telegate_settings(work, count);
                               return work.pattern == Pattern::pubsub ? run_workload<TelegatePubSub>(work, settings)
                                                                      : run_workload<TelegateRouting>(work, settings);
                           }});
    };
    for (const std::size_t count : io_threads) {
        add(count, std::to_string(count) + (count == 1 ? " I/O thread" : " I/O threads"));
    }
    if (engines.empty()) {
        add(1, "");
    }
    return engines;
}

}  // namespace telegate::perf
