#include "conformance/conformance.hpp"

namespace telegate::test {

std::vector<TransportTraits>& transports() {
    static std::vector<TransportTraits> all;
    return all;
}

namespace {

/// Returns the indexes in transports() for which `wanted` is true.
template <class Wanted>
std::vector<std::size_t> indices_of(const Wanted& wanted) {
    std::vector<std::size_t> indices;
    for (std::size_t index = 0; index < transports().size(); ++index) {
        if (wanted(transports()[index])) {
            indices.push_back(index);
        }
    }
    return indices;
}

}  // namespace

const TransportTraits& each_transport() {
    const auto all = indices_of([](const TransportTraits& traits) { return traits.io_threads == 1; });
    const std::size_t index = GENERATE_COPY(from_range(all));
    return transports()[index];
}

const TransportTraits& each_outer_transport() {
    const auto all =
        indices_of([](const TransportTraits& traits) { return traits.io_threads == 1 && traits.leaves_the_process; });
    const std::size_t index = GENERATE_COPY(from_range(all));
    return transports()[index];
}

const TransportTraits& each_publisher_transport() {
    const std::size_t index = GENERATE(range(std::size_t{0}, transports().size()));
    return transports()[index];
}

const TransportTraits& each_outer_publisher_transport() {
    const auto all = indices_of([](const TransportTraits& traits) { return traits.leaves_the_process; });
    const std::size_t index = GENERATE_COPY(from_range(all));
    return transports()[index];
}

PublisherOptions on_threads(const TransportTraits& transport, PublisherOptions options) {
    options.io_threads = transport.io_threads;
    return options;
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
