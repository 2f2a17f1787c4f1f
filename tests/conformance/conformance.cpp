#include "conformance/conformance.hpp"

namespace telegate::test {

std::vector<TransportTraits>& transports() {
    static std::vector<TransportTraits> all;
    return all;
}

const TransportTraits& each_transport() {
    const std::size_t index = GENERATE(range(std::size_t{0}, transports().size()));
    return transports()[index];
}

const TransportTraits& each_outer_transport() {
    std::vector<std::size_t> indices;
    for (std::size_t index = 0; index < transports().size(); ++index) {
        if (transports()[index].leaves_the_process) {
            indices.push_back(index);
        }
    }
    const std::size_t index = GENERATE_COPY(from_range(indices));
    return transports()[index];
}

bool subscribe_to(Pair<Publisher, Subscriber>& pair, const std::vector<std::string>& prefixes) {
    for (const std::string& prefix : prefixes) {
        pair.second.subscribe(prefix);
    }
    return pair.turn_until([&] { return pair.first.totals().subscriptions == prefixes.size(); });
}

std::vector<Frames> numbered(std::size_t count) {
    std::vector<Frames> out;
    for (std::size_t number = 0; number < count; ++number) {
        out.push_back({"number", std::to_string(number)});
    }
    return out;
}

}  // namespace telegate::test
