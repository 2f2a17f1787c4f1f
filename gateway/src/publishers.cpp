#include "publishers.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace telegate {

Publishers::Publishers(Reactor& reactor, std::span<const FormatEndpoint> endpoints, std::size_t connections_max,
                       const MonitorHandler& monitor) {
    for (const PayloadFormat format : {PayloadFormat::json, PayloadFormat::cbor, PayloadFormat::record}) {
        const auto has_format = [format](const FormatEndpoint& planned) {
            return planned.format == format;
        };
        if (std::any_of(endpoints.begin(), endpoints.end(), has_format)) {
            lines_.push_back({format, nullptr});
        }
    }
    for (Line& line : lines_) {
        PublisherOptions options;
        options.sessions_max =
            std::clamp<std::size_t>(connections_max / lines_.size(), std::size_t{1}, options.sessions_max);
        line.publisher = std::make_unique<Publisher>(reactor, options);
        line.publisher->set_monitor(monitor);
    }
    for (const FormatEndpoint& planned : endpoints) {
        Publisher& publisher = publisher_of(planned.format);
        bound_.push_back({planned.adopted < 0 ? publisher.bind(planned.endpoint)
                                              : publisher.bind_adopted(planned.endpoint, planned.adopted),
                          planned.format});
    }
}

Publisher& Publishers::publisher_of(PayloadFormat format) const noexcept {
    const auto line =
        std::find_if(lines_.begin(), lines_.end(), [&](const Line& each) { return each.format == format; });
    TELEGATE_ASSERT(line != lines_.end());
    return *line->publisher;
}

std::vector<FormatPublisher> Publishers::by_format() const {
    std::vector<FormatPublisher> result;
    for (const Line& line : lines_) {
        result.push_back({line.format, *line.publisher});
    }
    return result;
}

std::vector<FormatEndpoint> Publishers::endpoints() const {
    return bound_;
}

std::vector<SubscriberStatus> Publishers::subscribers() const {
    std::vector<SubscriberStatus> result;
    for (const Line& line : lines_) {
        for (PeerStatus& peer : line.publisher->subscribers()) {
            result.push_back({std::move(peer), line.format});
        }
    }
    return result;
}

PublisherTotals Publishers::totals() const {
    PublisherTotals totals;
    for (const Line& line : lines_) {
        totals += line.publisher->totals();
    }
    return totals;
}

bool Publishers::close_peer(PayloadFormat format, std::uint64_t id) {
    return std::any_of(lines_.begin(), lines_.end(),
                       [&](const Line& line) { return line.format == format && line.publisher->close_peer(id); });
}

void Publishers::close(std::chrono::milliseconds grace, const std::function<void()>& done) {
    if (lines_.empty()) {
        return done();
    }
    const auto open = std::make_shared<std::size_t>(lines_.size());
    for (const Line& line : lines_) {
        line.publisher->close(grace, [open, done] {
            if (--*open == 0) {
                done();
            }
        });
    }
}

}  // namespace telegate
