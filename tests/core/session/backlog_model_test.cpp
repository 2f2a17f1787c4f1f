#include "session/backlog.hpp"

#include "core/limits.hpp"
#include "support/catch.hpp"
#include "support/zmtp_text.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <random>
#include <string>

using namespace telegate;
using telegate::test::message;

namespace {

/// The expected behavior of a backlog, computed slowly, message by message.
struct Model {
    enum class Where : std::uint8_t { log, copied, held };
    struct Waiting {
        std::string wire;
        Slice slice;
        std::uint64_t segment_start;
        Where where = Where::log;
    };

    explicit Model(std::size_t runs_max_in) : runs_max(runs_max_in) {}

    [[nodiscard]] bool starts_run(std::size_t index) const {
        if (index == 0 || waiting[index - 1].where != Where::log) {
            return true;
        }
        const Waiting& before = waiting[index - 1];
        const Waiting& here = waiting[index];
        return before.segment_start != here.segment_start || before.slice.end != here.slice.begin;
    }
    /// The oldest message that may be dropped; all before it are in flight and kept.
    [[nodiscard]] std::size_t oldest() const {
        const auto found =
            std::find_if(waiting.begin(), waiting.end(), [](const Waiting& one) { return one.where == Where::log; });
        return static_cast<std::size_t>(found - waiting.begin());
    }
    [[nodiscard]] std::size_t runs() const {
        std::size_t count = 0;
        for (std::size_t i = 0; i < waiting.size(); ++i) {
            count += waiting[i].where != Where::copied && starts_run(i) ? 1U : 0U;
        }
        return count;
    }
    [[nodiscard]] bool holds() const {
        return std::any_of(waiting.begin(), waiting.end(), [](const Waiting& one) { return one.where == Where::held; });
    }

    std::uint64_t add(const std::string& wire, const Slice& slice) {
        waiting.push_back({wire, slice, slice.segment->start});
        if (!starts_run(waiting.size() - 1)) {
            return 0;
        }
        const Waiting fresh = waiting.back();
        waiting.pop_back();
        std::uint64_t lost = 0;
        while (runs() >= runs_max && runs() > (holds() ? 1U : 0U)) {
            lost += drop_oldest_run();
        }
        waiting.push_back(fresh);
        return lost;
    }

    std::uint64_t drop_before(std::uint64_t position) {
        std::uint64_t lost = 0;
        while (oldest() < waiting.size() &&
               waiting[oldest()].segment_start + waiting[oldest()].slice.begin < position) {
            lost += drop_oldest_run();
        }
        return lost;
    }

    std::uint64_t drop_oldest_run() {
        const std::size_t first = oldest();
        std::size_t end = first + 1;
        while (end < waiting.size() && !starts_run(end)) {
            ++end;
        }
        std::size_t before = 0;  // bytes of the messages before the run
        for (std::size_t i = 0; i < first; ++i) {
            before += waiting[i].wire.size();
        }
        // a partly sent message, or the claimed ones; never both
        const std::size_t under_way = partial > 0 ? 1 : claimed;
        std::size_t kept = 0;
        std::size_t kept_bytes = 0;
        for (std::size_t i = first; i < end && before + kept_bytes < under_way; ++i) {
            ++kept;
            kept_bytes += waiting[i].wire.size();
        }
        const std::size_t to_send = kept_bytes - (first == 0 && kept > 0 ? partial : 0);
        for (std::size_t i = first; i < first + kept; ++i) {
            waiting[i].where = to_send > limits::rest_bytes_max ? Where::held : Where::copied;
        }
        waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(first + kept),
                      waiting.begin() + static_cast<std::ptrdiff_t>(end));
        return end - first - kept;
    }

    std::uint64_t restart() {
        const std::size_t before = waiting.size();
        std::erase_if(waiting, [](const Waiting& one) { return one.where == Where::copied; });
        for (Waiting& one : waiting) {
            one.where = Where::log;
        }
        partial = 0;
        claimed = 0;
        return before - waiting.size();
    }

    /// Returns the contents of these bytes.
    std::string send(std::size_t bytes, std::uint64_t& completed) {
        const std::string sent = to_send().substr(0, bytes);
        claimed -= std::min(claimed, bytes);
        partial += bytes;
        while (!waiting.empty() && partial >= waiting.front().wire.size()) {
            partial -= waiting.front().wire.size();
            waiting.pop_front();
            ++completed;
        }
        return sent;
    }
    [[nodiscard]] std::string to_send() const {
        std::string all;
        for (const Waiting& one : waiting) {
            all += one.wire;
        }
        return all.substr(partial);
    }

    std::size_t runs_max;
    std::deque<Waiting> waiting;
    std::size_t partial = 0;  // bytes sent of the first message
    std::size_t claimed = 0;
};

/// A backlog and its model, which get the same calls.
struct ModeledBacklog {
    ModeledBacklog(unsigned seed, std::size_t runs_max)
        : random(seed),
          sealed(seed % 2 == 0),
          pool(seed % 3 == 0 ? 512 * 1024 : 4096),
          log(pool),
          backlog(runs_max),
          model(runs_max) {}

    void publish() {
        const std::size_t bytes = random() % 4 == 0 ? 40'000 + random() % 120'000 : random() % 400;
        const std::string wire = message(std::to_string(published++), std::string(bytes, 'x'));
        const Slice slice = append(wire);
        lost += backlog.add(slice);
        model_lost += model.add(wire, slice);
        if (random() % 4 == 0) {
            (void)append("x");  // of another peer
        }
    }
    Slice append(const std::string& wire) {
        std::byte* room = log.prepare(wire.size());
        if (log.segments_opened() != opened) {
            opened = log.segments_opened();
            if (random() % 2 == 0) {
                drop_before(log.end() - std::min<std::uint64_t>(log.end(), wire.size() + random() % 300'000));
            }
        }
        std::memcpy(room, wire.data(), wire.size());
        return log.commit(wire.size());
    }
    void drop_before(std::uint64_t position) {
        lost += backlog.drop_before(position);
        model_lost += model.drop_before(position);
    }
    /// Like a sender: claims whole messages up to rest_bytes_max, or one.
    void claim() {
        std::size_t bytes = 0;
        for (const Model::Waiting& one : model.waiting) {
            if (bytes > 0 && bytes + one.wire.size() > limits::rest_bytes_max) {
                break;
            }
            bytes += one.wire.size();
        }
        backlog.claim(bytes);
        model.claimed = bytes;
    }
    void send() {
        std::size_t bytes = random() % 2 == 0 ? random() % 200 : random() % 120'000;
        if (sealed) {
            if (model.claimed == 0) {
                claim();
            }
            bytes = model.waiting.empty() || random() % 2 == 0 ? 0 : model.waiting.front().wire.size();
        }
        bytes = std::min(bytes, backlog.bytes());
        std::array<StreamPart, 256> parts;
        const std::size_t count = backlog.gather(parts);
        std::string offered;
        for (std::size_t i = 0; i < count && offered.size() < bytes; ++i) {
            offered.append(reinterpret_cast<const char*>(parts[i].data), parts[i].bytes);
        }
        REQUIRE(offered.size() >= bytes);
        const std::uint64_t done = backlog.consume(bytes);
        std::uint64_t model_done = 0;
        REQUIRE((offered.substr(0, bytes) == model.send(bytes, model_done)));
        REQUIRE(done == model_done);
        completed += done;
    }
    void restart() {
        lost += backlog.restart();
        model_lost += model.restart();
    }
    void compare() {
        REQUIRE(lost == model_lost);
        REQUIRE(backlog.messages() == model.waiting.size());
        REQUIRE(completed + lost + backlog.messages() == published);
        std::size_t bytes = 0;
        for (const Model::Waiting& one : model.waiting) {
            bytes += one.wire.size();
        }
        REQUIRE(backlog.bytes() == bytes - model.partial);
        REQUIRE(backlog.at_boundary() ==
                (model.partial == 0 && (model.waiting.empty() || model.waiting.front().where != Model::Where::copied)));
        REQUIRE(backlog.held_position().has_value() == model.holds());
        REQUIRE((pool.held_bytes() > 0) == model.holds());
    }

    std::mt19937 random;
    const bool sealed;
    SegmentPool pool;
    SegmentLog log;
    Backlog backlog;
    Model model;
    std::uint64_t opened = 0;
    std::uint64_t published = 0;
    std::uint64_t completed = 0;
    std::uint64_t lost = 0;
    std::uint64_t model_lost = 0;
};

}  // namespace

TEST_CASE("whatever is published, claimed, sent, dropped and restarted, a backlog behaves like its model",
          "[core][session][backlog]") {
    const unsigned seed = GENERATE(range(1U, 13U));
    CAPTURE(seed);
    ModeledBacklog pair(seed, std::array<std::size_t, 4>{1, 2, 8, 1000}[seed % 4]);
    std::size_t steps_held = 0;
    for (int step = 0; step < 800; ++step) {
        pair.publish();
        if (pair.random() % 2 == 0) {
            pair.send();
        }
        if (pair.random() % 40 == 0) {
            pair.restart();
        }
        pair.compare();
        steps_held += pair.model.holds() ? 1U : 0U;
    }
    CHECK(steps_held > 0);
    pair.lost += pair.backlog.drop_all();
    CHECK(pair.completed + pair.lost == pair.published);
    CHECK(pair.backlog.bytes() == 0);
    CHECK(pair.pool.held_bytes() == 0);
}
