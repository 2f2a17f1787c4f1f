#include "engine.hpp"
#include "measure.hpp"
#include "raw_links.hpp"

#include <algorithm>
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
/// From 2 MiB on, what is read has left the writer's own cache for the one that cores share, where it comes from
/// sooner.
constexpr std::array<std::size_t, 6> ring_sizes{64 * 1024,       256 * 1024,      1024 * 1024,
                                                2 * 1024 * 1024, 4 * 1024 * 1024, 8 * 1024 * 1024};
constexpr int trial_rounds = 3;
constexpr std::uint64_t few_messages = 20'000;  // take no time worth finding out

Outcome run_tuned(const Workload& work, const RawTuning& tuning) {
    return work.transport == Transport::inproc ? run_workload<RingLink>(work, tuning)
                                               : run_workload<StreamLink>(work, tuning);
}

[[nodiscard]] std::vector<RawTuning> tunings_of(const Workload& work) {
    std::vector<RawTuning> tunings;
    if (work.transport == Transport::inproc) {
        for (const std::size_t ring : ring_sizes) {
            const std::size_t bytes = ByteRing::capacity_for(ring, work.size);
            if (tunings.empty() || tunings.back().chunk_bytes != bytes) {
                tunings.push_back({bytes, 0});
            }
        }
        return tunings;
    }
    for (const std::size_t chunk_bytes : chunks) {
        for (const int buffer_bytes : buffers) {
            tunings.push_back({chunk_bytes, buffer_bytes});
        }
    }
    return tunings;
}

/// One that is tried.
struct Candidate {
    RawTuning tuning;
    std::uint64_t messages;
    double rate_max = 0;
};

[[nodiscard]] std::uint64_t messages_of(const RawTrial& trial, const Workload& work, const RawTuning& tuning) {
    if (trial.messages_max <= few_messages) {
        return trial.messages_max;
    }
    const Engine engine{"raw", {}, is_possible, [&tuning](const Workload& part) {
                            return run_tuned(part, tuning);
                        }};
    return std::min(messages_in(trial.seconds, engine, work).messages, trial.messages_max);
}

[[nodiscard]] RawTuning find_best(const RawTrial& trial, Workload work) {
    std::vector<Candidate> candidates;
    for (const RawTuning& tuning : tunings_of(work)) {
        candidates.push_back({tuning, messages_of(trial, work, tuning)});
    }
    for (int round = 0; round < trial_rounds; ++round) {
        for (Candidate& candidate : candidates) {
            work.messages = candidate.messages;
            const double rate = static_cast<double>(work.messages) / run_tuned(work, candidate.tuning).seconds;
            candidate.rate_max = std::max(candidate.rate_max, rate);
        }
    }
    return std::ranges::max_element(candidates, {}, &Candidate::rate_max)->tuning;
}

/// Found once for each cell, whatever the number of messages. Both patterns are the same work here.
[[nodiscard]] RawTuning best_tuning(const RawTrial& trial, const Workload& work) {
    using Key = std::tuple<Transport, std::size_t, std::size_t, std::size_t, bool>;
    static std::map<Key, RawTuning> known;
    const Key key{work.transport, work.size, work.receivers, work.topics, work.two_processes};
    const auto found = known.find(key);
    return found != known.end() ? found->second : known.emplace(key, find_best(trial, work)).first->second;
}

[[nodiscard]] std::string words_of(const RawTuning& tuning, Transport transport) {
    if (transport == Transport::inproc) {
        return size_name(tuning.chunk_bytes) + " ring";
    }
    const std::string chunk = size_name(tuning.chunk_bytes) + " chunks, ";
    if (tuning.buffer_bytes == 0) {
        return chunk + "the system's buffers";
    }
    const GivenBuffers given = given_buffers(transport, tuning.buffer_bytes);
    return given.send == given.receive
               ? chunk + size_name(given.send) + " buffers"
               : chunk + size_name(given.send) + " to send and " + size_name(given.receive) + " to receive";
}

Outcome run_raw(const RawTrial& trial, const Workload& work) {
    const RawTuning tuning = best_tuning(trial, work);
    Outcome outcome = run_tuned(work, tuning);
    outcome.setup = words_of(tuning, work.transport);
    return outcome;
}

/// It seals nothing, so it is no ceiling where the others do.
[[nodiscard]] bool can_run_raw(const Workload& work) {
    return is_possible(work) && !work.curve;
}

}  // namespace

std::vector<Engine> raw_engines(const RawTrial& trial) {
    return {{"raw", {}, can_run_raw, [trial](const Workload& work) {
                 return run_raw(trial, work);
             }}};
}

}  // namespace telegate::perf
