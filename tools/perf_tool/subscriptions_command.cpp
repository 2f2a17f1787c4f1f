#include "command.hpp"
#include "process_figures.hpp"
#include "publish/subscription_index.hpp"
#include "system.hpp"

#include <malloc.h>

#include <array>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>

namespace telegate::perf {

namespace {

constexpr std::size_t topic_bytes = 32;
constexpr std::size_t subscriptions_max = limits::subscription_bytes_total_max / topic_bytes;

/// The owners of the subscriptions of a run.
struct Ownership {
    const char* name;
    std::size_t subscribers;
    bool shared;  // whether all subscribers have the same prefixes
};

constexpr std::array<Ownership, 3> ownerships{{
    {"one subscriber", 1, false},
    {"100 subscribers", 100, false},
    {"100 share", 100, true},
}};

/// Nanoseconds or bytes of each figure, by name.
using Figures = std::vector<std::pair<const char*, double>>;

/// Distinct topics of topic_bytes each, in one text.
class Topics {
  public:
    explicit Topics(std::size_t count) {
        text_.reserve(count * topic_bytes);
        for (std::size_t number = 0; number < count; ++number) {
            append("site/", 8, number / 1'000);
            append("/channel/", 10, number);
        }
    }
    [[nodiscard]] std::string_view operator[](std::size_t number) const noexcept {
        return std::string_view(text_).substr(number * topic_bytes, topic_bytes);
    }

  private:
    void append(std::string_view name, std::size_t width, std::size_t number) {
        const std::string digits = std::to_string(number);
        text_.append(name).append(width - digits.size(), '0').append(digits);
    }

    std::string text_;
};

void require_of_index(bool right, const char* what) {
    if (!right) {
        throw std::runtime_error(std::string("the subscription index is wrong: ") + what);
    }
}

/// Operations on an index. Subscriptions belong to the subscribers in turn.
class IndexWorkload {
  public:
    IndexWorkload(const Ownership& ownership, std::size_t count)
        : count_(count - count % ownership.subscribers),
          sharing_(ownership.shared ? ownership.subscribers : 1),
          topics_(2 * count_ / sharing_),
          order_(count_),
          subscribers_(ownership.subscribers) {
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        found_.reserve(ownership.subscribers);
    }

    Figures run() {
        ::malloc_trim(0);
        const std::uint64_t before_kib = memory_of(0).resident_kib;
        SubscriptionIndex index({count_, count_, count_ * topic_bytes});
        for (SubscriberKey& subscriber : subscribers_) {
            subscriber = index.add_subscriber();
        }
        Figures result{{"insert", time_inserts(index, SubscriptionIndex::Insert::added)}};
        const auto resident_bytes = static_cast<double>((memory_of(0).resident_kib - before_kib) * 1'024);
        const double resident = resident_bytes / static_cast<double>(count_);
        const double reported = static_cast<double>(index.memory_bytes()) / static_cast<double>(count_);
        std::shuffle(order_.begin(), order_.end(), random_);
        result.emplace_back("insert, known", time_inserts(index, SubscriptionIndex::Insert::known));
        result.emplace_back("match", time_matches(index, 0, sharing_));
        result.emplace_back("match nothing", time_matches(index, count_ / sharing_, 0));
        result.emplace_back("erase",
                            time_each([&](std::size_t number) { return index.erase(owner(number), topic(number)); }));
        require_of_index(index.size() == 0, "not empty");
        std::shuffle(order_.begin(), order_.end(), random_);
        result.emplace_back("insert again", time_inserts(index, SubscriptionIndex::Insert::added));
        result.emplace_back("disconnect, each", time_leave(index));
        require_of_index(index.size() == 0, "not empty after all have disconnected");
        result.emplace_back("bytes, resident", resident);
        result.emplace_back("bytes, as reported", reported);
        return result;
    }

  private:
    [[nodiscard]] SubscriberKey owner(std::size_t number) const { return subscribers_[number % subscribers_.size()]; }
    [[nodiscard]] std::string_view topic(std::size_t number) const { return topics_[number / sharing_]; }

    /// Returns the nanoseconds per number. Throws if `operation` returns false for a number.
    template <class Operation>
    double time_each(const Operation& operation) {
        bool right = true;
        const double begin = cpu_ns_of(CLOCK_THREAD_CPUTIME_ID);
        for (const std::size_t number : order_) {
            right = operation(number) && right;
        }
        const double time = cpu_ns_of(CLOCK_THREAD_CPUTIME_ID) - begin;
        require_of_index(right, "a wrong result");
        return time / static_cast<double>(count_);
    }

    double time_inserts(SubscriptionIndex& index, SubscriptionIndex::Insert expected) {
        const double time =
            time_each([&](std::size_t number) { return index.insert(owner(number), topic(number)) == expected; });
        require_of_index(index.size() == count_, "wrong size");
        return time;
    }

    /// Matches the topics starting at number `first`, each of which has `expected` subscribers.
    double time_matches(const SubscriptionIndex& index, std::size_t first, std::size_t expected) {
        return time_each([&](std::size_t number) {
            found_.clear();
            index.match(topics_[first + number / sharing_], found_);
            return found_.size() == expected;
        });
    }

    double time_leave(SubscriptionIndex& index) {
        const double begin = cpu_ns_of(CLOCK_THREAD_CPUTIME_ID);
        for (const SubscriberKey subscriber : subscribers_) {
            index.remove_subscriber(subscriber);
        }
        const double time = cpu_ns_of(CLOCK_THREAD_CPUTIME_ID) - begin;
        return time / static_cast<double>(count_);
    }

    const std::size_t count_;
    const std::size_t sharing_;  // subscribers of each prefix
    const Topics topics_;        // the second half has no subscribers
    std::vector<std::size_t> order_;
    std::vector<SubscriberKey> subscribers_;
    std::vector<SubscriberKey> found_;
    std::mt19937 random_{1};
};

Report measure_index(std::size_t count, std::size_t runs) {
    Report report{"subscriptions", "CPU ns, or bytes, per subscription"};
    for (std::size_t run = 0; run < runs; ++run) {
        for (const Ownership& ownership : ownerships) {
            for (const auto& [figure, value] : IndexWorkload(ownership, count).run()) {
                report.add(std::string(figure) + ", " + ownership.name, value);
            }
        }
    }
    return report;
}

}  // namespace

Command::Action describe_subscriptions_command(CLI::App& options) {
    const auto count = std::make_shared<std::size_t>(1'000'000);
    options.add_option("count", *count, "Subscriptions in the index, to topics of 32 bytes")
        ->check(CLI::Range(std::size_t{1'000}, subscriptions_max));
    return [count](std::size_t runs) {
        return measure_index(*count, runs);
    };
}

}  // namespace telegate::perf
