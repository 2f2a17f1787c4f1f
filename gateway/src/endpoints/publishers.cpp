#include "endpoints/publishers.hpp"

#include "base/setting_failure.hpp"
#include "core/assert.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <stdexcept>
#include <utility>

namespace telegate {
namespace {

constexpr std::array all_formats{PayloadFormat::json, PayloadFormat::cbor, PayloadFormat::record};

/// Whether it is another address each time that it is bound.
bool is_any(const Endpoint& endpoint) {
    return endpoint.transport == Transport::tcp ? endpoint.port == 0 : endpoint.path == "*";
}

constexpr std::size_t segment_bytes_least = 16 * 1024;

/// Whose failure names the setting.
Endpoint bind_publisher(const FormatEndpoint& wanted, Publisher& publisher) {
    return get_for("[publish \"" + wanted.name + "\"] endpoint", wanted.endpoint.path, [&] {
        const Security security = to_security(wanted.curve);
        Endpoint bound = wanted.adopted < 0 ? publisher.bind(wanted.endpoint, security)
                                            : publisher.bind_adopted(wanted.endpoint, wanted.adopted, security);
        publisher.set_delivery(bound, wanted.delivery);  // nobody is accepted before the next turn
        return bound;
    });
}

}  // namespace

/// Threads, Limits: as Publishers. Failure: none.
struct Publishers::Prepared {
    struct Leaving {
        Bound bound;
        bool is_unbound = false;  // already, since it was in the way
    };
    std::vector<Bound> next;  // all endpoints, in their order
    std::vector<Bound> fresh;
    std::vector<Leaving> leaving;
};

Publishers::Publishers(Reactor& reactor, std::span<const FormatEndpoint> endpoints, std::size_t connections_max,
                       Hooks hooks)
    : reactor_(reactor), connections_max_(connections_max), hooks_(std::move(hooks)) {
    add_lines(endpoints);
    for (const FormatEndpoint& wanted : endpoints) {
        bound_.push_back({wanted, bind_publisher(wanted, publisher_of(wanted.format))});
        bound_.back().wanted.adopted = -1;  // the publisher has it
    }
}

/// For the formats that have none yet.
void Publishers::add_lines(std::span<const FormatEndpoint> endpoints) {
    std::vector<PayloadFormat> fresh;
    for (const PayloadFormat format : all_formats) {
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
        std::clamp<std::size_t>(connections_max_ / lines, std::size_t{1}, PublisherOptions{}.sessions_max);
    for (const PayloadFormat format : fresh) {
        lines_.push_back({format, make_publisher(format, sessions_max, endpoints)});
    }
}

std::unique_ptr<Publisher> Publishers::make_publisher(PayloadFormat format, std::size_t sessions_max,
                                                      std::span<const FormatEndpoint> endpoints) {
    PublisherOptions options;
    options.sessions_max = sessions_max;
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

/// Finds for each of the next endpoints the one that it is already, and returns those that are none of them. The same
/// name comes first, then the same address under another name, then one that spells out what was bound before.
std::vector<Publishers::Bound> Publishers::match(std::vector<Bound>& next) const {
    std::vector<Bound> left = bound_;
    std::vector<bool> found(next.size(), false);
    const auto take = [&](auto is_same) {
        for (std::size_t i = 0; i < next.size(); ++i) {
            const auto known = std::find_if(left.begin(), left.end(), [&](const Bound& old) {
                return old.wanted.format == next[i].wanted.format && is_same(old, next[i].wanted);
            });
            if (!found[i] && known != left.end()) {
                found[i] = true;
                next[i].as_bound = known->as_bound;
                left.erase(known);
            }
        }
    };
    take([](const Bound& old, const FormatEndpoint& wanted) {
        return old.wanted.name == wanted.name && old.wanted.endpoint == wanted.endpoint;
    });
    take([](const Bound& old, const FormatEndpoint& wanted) {
        return old.wanted.endpoint == wanted.endpoint && !is_any(wanted.endpoint);
    });
    take([](const Bound& old, const FormatEndpoint& wanted) { return old.as_bound == wanted.endpoint; });
    return left;
}

std::shared_ptr<Publishers::Prepared> Publishers::prepare(std::span<const FormatEndpoint> endpoints) {
    auto prepared = std::make_shared<Prepared>();
    const Endpoint not_bound{};
    for (const FormatEndpoint& wanted : endpoints) {
        prepared->next.push_back({wanted, not_bound});
    }
    for (Bound& old : match(prepared->next)) {
        prepared->leaving.push_back({std::move(old)});
    }
    add_lines(endpoints);
    try {
        for (Bound& each : prepared->next) {
            if (each.as_bound == not_bound) {
                each.as_bound = bind(each.wanted, *prepared);
                prepared->fresh.push_back(each);
            }
        }
    } catch (const std::exception& error) {
        const std::vector<std::string> lost = roll_back(*prepared);
        if (lost.empty()) {
            throw;
        }
        throw std::runtime_error(std::string(error.what()) + "; no longer bound either: " + lost.front());
    }
    return prepared;
}

Endpoint Publishers::bind(const FormatEndpoint& wanted, Prepared& prepared) {
    for (Prepared::Leaving& each : prepared.leaving) {
        if (!each.is_unbound && may_conflict(each.bound.as_bound, wanted.endpoint)) {
            each.is_unbound = true;
            publisher_of(each.bound.wanted.format).unbind(each.bound.as_bound);
        }
    }
    return bind_publisher(wanted, publisher_of(wanted.format));
}

std::vector<std::string> Publishers::roll_back(Prepared& prepared) {
    for (const Bound& each : std::exchange(prepared.fresh, {})) {
        Publisher& publisher = publisher_of(each.wanted.format);
        publisher.unbind(each.as_bound);
        publisher.close_subscribers(each.as_bound, std::chrono::milliseconds(0));
    }
    std::vector<std::string> lost;
    for (const Prepared::Leaving& each : std::exchange(prepared.leaving, {})) {
        if (!each.is_unbound) {
            continue;
        }
        try {
            Publisher& publisher = publisher_of(each.bound.wanted.format);
            publisher.bind(each.bound.as_bound, to_security(each.bound.wanted.curve));
            publisher.set_delivery(each.bound.as_bound, each.bound.wanted.delivery);
        } catch (const std::exception& error) {
            lost.push_back(to_string(each.bound.as_bound) + ": " + error.what());
            std::erase_if(bound_, [&](const Bound& old) { return old.as_bound == each.bound.as_bound; });
        }
    }
    return lost;
}

void Publishers::apply(Prepared& prepared, std::chrono::milliseconds grace) {
    for (const Prepared::Leaving& each : std::exchange(prepared.leaving, {})) {
        Publisher& publisher = publisher_of(each.bound.wanted.format);
        if (!each.is_unbound) {
            publisher.unbind(each.bound.as_bound);
        }
        publisher.close_subscribers(each.bound.as_bound, grace);
    }
    for (const Bound& after : prepared.next) {
        const auto before = std::find_if(bound_.begin(), bound_.end(), [&](const Bound& old) {
            return old.wanted.format == after.wanted.format && old.as_bound == after.as_bound;
        });
        if (before != bound_.end()) {
            change_curve(*before, after, grace);
        }
        if (before != bound_.end() && before->wanted.delivery != after.wanted.delivery) {
            publisher_of(after.wanted.format).set_delivery(after.as_bound, after.wanted.delivery);
        }
    }
    prepared.fresh.clear();
    bound_ = std::move(prepared.next);
}

std::vector<FormatPublisher> Publishers::by_format() const {
    std::vector<FormatPublisher> result;
    for (const Line& line : lines_) {
        if (std::any_of(bound_.begin(), bound_.end(),
                        [&](const Bound& each) { return each.wanted.format == line.format; })) {
            result.push_back({line.format, *line.publisher});
        }
    }
    return result;
}

std::vector<FormatEndpoint> Publishers::endpoints() const {
    std::vector<FormatEndpoint> result;
    for (const Bound& each : bound_) {
        result.push_back(each.wanted);
        result.back().endpoint = each.as_bound;
    }
    return result;
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
    return std::any_of(bound_.begin(), bound_.end(), [&](const Bound& each) {
        return each.wanted.last_value && each.wanted.format == format && to_string(each.as_bound) == endpoint;
    });
}

bool Publishers::send_to(PayloadFormat format, std::uint64_t id, std::string_view topic, std::string_view payload) {
    return publisher_of(format).send_to(id, topic, payload);
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
