// The subscription index compared with a plain set. Each operation takes two bytes of the input, the action and the
// subscriber, and a text: one byte gives the number of letters that follow, and how often a prefix of 36 letters is
// repeated before them.
#include "core/assert.hpp"
#include "core/limits.hpp"
#include "publish/subscription_index.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace telegate;

namespace {

constexpr SubscriptionIndex::Limits small{60, 25, 2'000};
constexpr std::size_t subscribers_max = 5;

class Input {
  public:
    Input(const std::uint8_t* data, std::size_t size) : left_(reinterpret_cast<const char*>(data), size) {}

    [[nodiscard]] bool empty() const { return left_.empty(); }
    [[nodiscard]] std::uint8_t byte() {
        if (left_.empty()) {
            return 0;
        }
        const auto value = static_cast<std::uint8_t>(left_.front());
        left_.remove_prefix(1);
        return value;
    }
    /// Returns up to seven letters, after up to 31 times 36 letters a.
    [[nodiscard]] std::string text() {
        const std::uint8_t shape = byte();
        const std::string_view letters = left_.substr(0, shape % 8);
        left_.remove_prefix(letters.size());
        return std::string(std::size_t{36} * (shape / 8U), 'a').append(letters);
    }

  private:
    std::string_view left_;
};

/// The index and its model, which get the same calls.
class Both {
  public:
    void step(Input& input) {
        const std::uint8_t operation = input.byte();
        std::optional<SubscriberKey>& key = keys_[input.byte() % subscribers_max];
        if (!key) {
            key = index_.add_subscriber();
        }
        if (operation % 16 == 15) {
            remove(*key);
            key.reset();
        } else if (operation % 4 == 0) {
            check(input.text());
        } else if (operation % 4 == 1) {
            erase(*key, input.text());
        } else {
            insert(*key, input.text());
        }
        TELEGATE_ASSERT(index_.size() == model_.size());
    }

    void finish() {
        for (const std::optional<SubscriberKey>& key : keys_) {
            if (key) {
                TELEGATE_ASSERT(index_.some(*key, small.per_subscriber_max) == texts_of(*key));
                remove(*key);
            }
        }
        TELEGATE_ASSERT(index_.size() == 0 && !index_.matches("a"));
    }

  private:
    [[nodiscard]] std::vector<std::string> texts_of(SubscriberKey key) const {
        std::vector<std::string> texts;
        for (const auto& [owner, text] : model_) {
            if (owner == key) {
                texts.push_back(text);
            }
        }
        return texts;
    }

    void insert(SubscriberKey key, const std::string& text) {
        const std::vector<std::string> own = texts_of(key);
        std::size_t bytes = text.size();
        for (const std::string& each : own) {
            bytes += each.size();
        }
        auto expected = SubscriptionIndex::Insert::added;
        if (model_.contains({key, text})) {
            expected = SubscriptionIndex::Insert::known;
        } else if (text.size() > limits::subscription_bytes_max || own.size() == small.per_subscriber_max ||
                   bytes > small.bytes_per_subscriber_max || model_.size() == small.subscriptions_max) {
            expected = SubscriptionIndex::Insert::refused;
        } else {
            model_.emplace(key, text);
        }
        TELEGATE_ASSERT(index_.insert(key, text) == expected);
        TELEGATE_ASSERT(index_.size_of(key) == texts_of(key).size());
    }

    void erase(SubscriberKey key, const std::string& text) {
        TELEGATE_ASSERT(index_.erase(key, text) == (model_.erase({key, text}) == 1));
    }

    void check(const std::string& topic) {
        std::set<SubscriberKey> expected;
        for (const auto& [owner, text] : model_) {
            if (topic.starts_with(text)) {
                expected.insert(owner);
            }
        }
        std::vector<SubscriberKey> found;
        index_.match(topic, found);
        TELEGATE_ASSERT(found.size() == expected.size());
        TELEGATE_ASSERT(std::set<SubscriberKey>(found.begin(), found.end()) == expected);
        TELEGATE_ASSERT(index_.matches(topic) == !expected.empty());
    }

    void remove(SubscriberKey key) {
        std::vector<std::string> heard;
        index_.remove_subscriber(key, [&heard](std::string_view text) { heard.emplace_back(text); });
        std::sort(heard.begin(), heard.end());
        TELEGATE_ASSERT(heard == texts_of(key));
        std::erase_if(model_, [key](const auto& pair) { return pair.first == key; });
    }

    SubscriptionIndex index_{small};
    std::set<std::pair<SubscriberKey, std::string>> model_;
    std::optional<SubscriberKey> keys_[subscribers_max];
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input input(data, size);
    Both both;
    while (!input.empty()) {
        both.step(input);
    }
    both.finish();
    return 0;
}
