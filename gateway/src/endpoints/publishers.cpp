#include "endpoints/publishers.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace telegate {
namespace {

constexpr std::size_t segment_bytes_least = 16 * 1024;

}  // namespace

Publisher& PublishSockets::of(const Wanted& wanted) const noexcept {
    return publishers_->publisher_of(wanted.format);
}

void PublishSockets::close_peers(const Wanted& wanted, const Endpoint& at, std::chrono::milliseconds grace) {
    of(wanted).close_subscribers(at, grace);
}

std::vector<PeerStatus> PublishSockets::peers(const Wanted& wanted) {
    return of(wanted).subscribers();
}

void PublishSockets::change(const Wanted& before, const Wanted& after, const Endpoint& at) {
    if (before.delivery != after.delivery) {
        set_up(after, at);
    }
}

Publishers::Publishers(Reactor& reactor, std::span<const FormatEndpoint> endpoints, const Options& options, Hooks hooks)
    : reactor_(reactor), options_(options), hooks_(std::move(hooks)), bound_(PublishSockets(*this)) {
    add_lines(endpoints);
    bound_.bind(endpoints);
}

/// Adds publishers for formats that have none yet.
void Publishers::add_lines(std::span<const FormatEndpoint> endpoints) {
    std::vector<PayloadFormat> fresh;
    for (const PayloadFormat format : payload_format_names.values) {
        const auto has_format = [format](const auto& each) {
            return each.format == format;
        };
        if (std::any_of(endpoints.begin(), endpoints.end(), has_format) &&
            std::none_of(lines_.begin(), lines_.end(), has_format)) {
            fresh.push_back(format);
        }
    }
    const std::size_t lines = std::max<std::size_t>(lines_.size() + fresh.size(), 1);
    const std::size_t sessions_max =
        std::clamp<std::size_t>(options_.connections_max / lines, std::size_t{1}, PublisherOptions{}.sessions_max);
    for (const PayloadFormat format : fresh) {
        lines_.push_back({format, make_publisher(format, sessions_max, endpoints)});
    }
}

std::unique_ptr<Publisher> Publishers::make_publisher(PayloadFormat format, std::size_t sessions_max,
                                                      std::span<const FormatEndpoint> endpoints) {
    PublisherOptions options;
    options.sessions_max = sessions_max;
    options.io_threads = options_.io_threads;
    std::size_t least = options.backlog_bytes_max;
    for (const FormatEndpoint& endpoint : endpoints) {
        least = endpoint.format == format ? std::min(least, endpoint.delivery.backlog_bytes_max) : least;
    }
    options.segment_bytes = std::clamp(least / 4, segment_bytes_least, options.segment_bytes);
    if (hooks_.losses) {
        options.loss_hooks = hooks_.losses(format);
    }
    auto publisher = std::make_unique<Publisher>(reactor_, options);
    if (hooks_.monitor) {
        publisher->set_monitor([this, format](const MonitorEvent& event) { hooks_.monitor(format, event); });
    }
    return publisher;
}

Publisher& Publishers::publisher_of(PayloadFormat format) const noexcept {
    const auto line =
        std::find_if(lines_.begin(), lines_.end(), [&](const Line& each) { return each.format == format; });
    TELEGATE_ASSERT(line != lines_.end());
    return *line->publisher;
}

std::shared_ptr<Publishers::Prepared> Publishers::prepare(std::span<const FormatEndpoint> endpoints) {
    add_lines(endpoints);
    return bound_.prepare(endpoints);
}

std::vector<FormatPublisher> Publishers::by_format() const {
    std::vector<FormatPublisher> result;
    for (const Line& line : lines_) {
        if (std::any_of(bound_.all().begin(), bound_.all().end(),
                        [&](const auto& each) { return each.wanted.format == line.format; })) {
            result.push_back({line.format, *line.publisher});
        }
    }
    return result;
}

std::vector<FormatEndpoint> Publishers::endpoints() const {
    std::vector<FormatEndpoint> result;
    for (const auto& each : bound_.all()) {
        result.push_back(each.wanted);
        result.back().endpoint = each.as_bound;
    }
    return result;
}

std::string Publishers::crowd(PayloadFormat format) const {
    const auto line =
        std::find_if(lines_.begin(), lines_.end(), [&](const Line& each) { return each.format == format; });
    const auto crowd = line == lines_.end() ? std::nullopt : line->publisher->crowd();
    if (!crowd) {
        return "";
    }
    return std::string(to_string(format)) +
           " has no free place for another subscriber: " + (crowd->client.empty() ? "this process" : crowd->client) +
           " has " + std::to_string(crowd->of_client) + " of " + std::to_string(crowd->connections_max) +
           " connections";
}

std::vector<SubscriberStatus> Publishers::subscribers() const {
    std::vector<SubscriberStatus> result;
    for (const Line& line : lines_) {
        for (PeerStatus& peer : line.publisher->subscribers()) {
            result.push_back({std::move(peer), line.format, {}});
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

std::vector<FormatTotals> Publishers::totals_by_format() const {
    std::vector<FormatTotals> result;
    result.reserve(lines_.size());
    for (const Line& line : lines_) {
        result.push_back({line.publisher->totals(), line.format});
    }
    return result;
}

bool Publishers::close_peer(PayloadFormat format, std::uint64_t id, std::string_view why) {
    return std::any_of(lines_.begin(), lines_.end(),
                       [&](const Line& line) { return line.format == format && line.publisher->close_peer(id, why); });
}

bool Publishers::has_last_value(PayloadFormat format, std::string_view endpoint) const {
    return std::any_of(bound_.all().begin(), bound_.all().end(), [&](const auto& each) {
        return each.wanted.last_value && each.wanted.format == format && to_string(each.as_bound) == endpoint;
    });
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
