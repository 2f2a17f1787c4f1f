#include "command.hpp"
#include "publish/subscription_index.hpp"

#include <malloc.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::perf {

namespace {

constexpr std::size_t topic_bytes = 32;
constexpr std::size_t subscriptions_max = limits::subscription_bytes_total_max / topic_bytes;

/// Who owns the subscriptions of a run.
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

enum Figure : std::size_t {
    insert,
    insert_known,
    match,
    match_nothing,
    erase,
    insert_again,
    leave,
    bytes_resident,
    bytes_told
};

constexpr std::array<const char*, 9> figure_names{{"insert", "insert, known", "match", "match nothing", "erase",
                                                   "insert again", "leave, each", "bytes, resident", "bytes, as told"}};

using Figures = std::array<double, figure_names.size()>;

/// Different topics of topic_bytes each, in one text.
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

std::size_t resident_bytes() {
    std::size_t size = 0;
    std::size_t resident = 0;
    std::ifstream("/proc/self/statm") >> size >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Nanoseconds that this thread has used the processor for: there is one thread, and it waits for nothing.
double processor_ns() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

void require_of_index(bool right, const char* what) {
    if (!right) {
        throw std::runtime_error(std::string("the subscription index is wrong: ") + what);
    }
}

/// One index and what is done to it. Subscription number n belongs to one of the subscribers, by turns.
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
        const std::size_t resident_before = resident_bytes();
        SubscriptionIndex index({count_, count_, count_ * topic_bytes});
        for (SubscriberKey& subscriber : subscribers_) {
            subscriber = index.add_subscriber();
        }
        Figures result{};
        result[Figure::insert] = time_inserts(index, SubscriptionIndex::Insert::added);
        result[Figure::bytes_resident] =
            static_cast<double>(resident_bytes() - resident_before) / static_cast<double>(count_);
        result[Figure::bytes_told] = static_cast<double>(index.memory_bytes()) / static_cast<double>(count_);
        std::shuffle(order_.begin(), order_.end(), random_);
        result[Figure::insert_known] = time_inserts(index, SubscriptionIndex::Insert::known);
        result[Figure::match] = time_matches(index, 0, sharing_);
        result[Figure::match_nothing] = time_matches(index, count_ / sharing_, 0);
        result[Figure::erase] =
            time_each([&](std::size_t number) { return index.erase(owner(number), topic(number)); });
        require_of_index(index.size() == 0, "not empty");
        std::shuffle(order_.begin(), order_.end(), random_);
        result[Figure::insert_again] = time_inserts(index, SubscriptionIndex::Insert::added);
        result[Figure::leave] = time_leave(index);
        require_of_index(index.size() == 0, "not empty after all have left");
        return result;
    }

    [[nodiscard]] std::size_t count() const noexcept { return count_; }

  private:
    [[nodiscard]] SubscriberKey owner(std::size_t number) const { return subscribers_[number % subscribers_.size()]; }
    [[nodiscard]] std::string_view topic(std::size_t number) const { return topics_[number / sharing_]; }

    /// Nanoseconds for each number in order, when `operation` answers true to all.
    template <class Operation>
    double time_each(const Operation& operation) {
        bool right = true;
        const double begin = processor_ns();
        for (const std::size_t number : order_) {
            right = operation(number) && right;
        }
        const double time = processor_ns() - begin;
        require_of_index(right, "an answer");
        return time / static_cast<double>(count_);
    }

    double time_inserts(SubscriptionIndex& index, SubscriptionIndex::Insert expected) {
        const double time =
            time_each([&](std::size_t number) { return index.insert(owner(number), topic(number)) == expected; });
        require_of_index(index.size() == count_, "the size");
        return time;
    }

    /// Topics from number `first` on, each of which `expected` subscribers have asked for.
    double time_matches(const SubscriptionIndex& index, std::size_t first, std::size_t expected) {
        return time_each([&](std::size_t number) {
            found_.clear();
            index.match(topics_[first + number / sharing_], found_);
            return found_.size() == expected;
        });
    }

    double time_leave(SubscriptionIndex& index) {
        const double begin = processor_ns();
        for (const SubscriberKey subscriber : subscribers_) {
            index.remove_subscriber(subscriber);
        }
        const double time = processor_ns() - begin;
        return time / static_cast<double>(count_);
    }

    const std::size_t count_;
    const std::size_t sharing_;  // subscribers that have the same prefix
    const Topics topics_;        // the first half for subscriptions, the other for what nobody asks for
    std::vector<std::size_t> order_;
    std::vector<SubscriberKey> subscribers_;
    std::vector<SubscriberKey> found_;
    std::mt19937 random_{1};
};

Report measure(std::size_t count, const CommonOptions& common) {
    Report report{"subscriptions", "nanoseconds", {}, {}, {}};
    report.parameters = {{"count", std::to_string(count) + " subscriptions, topics of 32 bytes"},
                         {"runs", std::to_string(common.runs)},
                         {"clock", "processor time of the thread"},
                         {"100 share", "each topic is asked for by 100 subscribers"},
                         {"bytes", "for each subscription"}};
    for (const Ownership& ownership : ownerships) {
        for (const char* const figure : figure_names) {
            report.rows.push_back({std::string(figure) + ", " + ownership.name, {}});
        }
    }
    for (std::size_t run = 0; run < common.runs; ++run) {
        for (std::size_t index = 0; index < ownerships.size(); ++index) {
            const Figures values = IndexWorkload(ownerships[index], count).run();
            for (std::size_t figure = 0; figure < values.size(); ++figure) {
                report.rows[index * figure_names.size() + figure].values.push_back(values[figure]);
            }
        }
    }
    return report;
}

}  // namespace

Command::Action describe_subscriptions_command(CLI::App& options) {
    const auto count = std::make_shared<std::size_t>(1'000'000);
    options.add_option("count", *count, "Subscriptions in the index")
        ->check(CLI::Range(std::size_t{1'000}, subscriptions_max))
        ->capture_default_str();
    return [count](const CommonOptions& common) {
        return measure(*count, common);
    };
}

}  // namespace telegate::perf
