#include "engine.hpp"
#include "raw_links.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace telegate::perf {

namespace {

constexpr std::array<std::size_t, 3> chunks{64 * 1024, 256 * 1024, 1024 * 1024};
constexpr std::array<int, 2> buffers{0, 4 * 1024 * 1024};
constexpr std::size_t trial_bytes = 32 * 1024 * 1024;
constexpr std::uint64_t trial_messages_max = 200'000;

Outcome run_tuned(const Workload& work, const RawTuning& tuning) {
    return work.transport == Transport::inproc ? run_workload<RingLink>(work, tuning)
                                               : run_workload<StreamLink>(work, tuning);
}

[[nodiscard]] RawTuning find_best(Workload work) {
    work.messages = std::clamp<std::uint64_t>(trial_bytes / work.size / work.receivers, 100, trial_messages_max);
    RawTuning best;
    double best_seconds = 0;
    for (const std::size_t chunk_bytes : chunks) {
        for (const int buffer_bytes : buffers) {
            if (buffer_bytes > 0 && work.transport == Transport::inproc) {
                continue;
            }
            const RawTuning tuning{chunk_bytes, buffer_bytes};
            const double seconds = run_tuned(work, tuning).seconds;
            if (best_seconds == 0 || seconds < best_seconds) {
                best_seconds = seconds;
                best = tuning;
            }
        }
    }
    return best;
}

/// Found once for each cell, whatever the number of messages. Both patterns are the same work here.
[[nodiscard]] RawTuning best_tuning(const Workload& work) {
    using Key = std::tuple<Transport, std::size_t, std::size_t, std::size_t, bool>;
    static std::map<Key, RawTuning> known;
    const Key key{work.transport, work.size, work.receivers, work.topics, work.two_processes};
    const auto found = known.find(key);
    return found != known.end() ? found->second : known.emplace(key, find_best(work)).first->second;
}

[[nodiscard]] std::string words_of(const RawTuning& tuning, Transport transport) {
    if (transport == Transport::inproc) {
        return size_name(tuning.chunk_bytes) + " ring";
    }
    const std::string chunk = size_name(tuning.chunk_bytes) + " chunks, ";
    return tuning.buffer_bytes == 0 ? chunk + "the system's buffers"
                                    : chunk + size_name(static_cast<std::size_t>(tuning.buffer_bytes)) + " buffers";
}

Outcome run(const Workload& work) {
    const RawTuning tuning = best_tuning(work);
    Outcome outcome = run_tuned(work, tuning);
    outcome.setup = words_of(tuning, work.transport);
    return outcome;
}

/// It seals nothing, so it is no ceiling where the others do.
[[nodiscard]] bool can(const Workload& work) {
    return is_possible(work) && !work.curve;
}

}  // namespace

std::vector<Engine> raw_engines() {
    return {{"raw", {}, can, run}};
}

}  // namespace telegate::perf
