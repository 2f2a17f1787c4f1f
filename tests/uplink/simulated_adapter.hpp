#pragma once

#include "uplink/adapter.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace telegate::uplink {

/// A back end that stores messages once per id, and everything that can go wrong on the way to it. It outlives the
/// processes that deliver to it.
///
/// Threads: one. Limits: memory. Failure: none.
class SimulatedBackEnd {
  public:
    explicit SimulatedBackEnd(std::uint64_t seed) : random_(seed) {}

    /// The payloads in the order in which they were stored.
    [[nodiscard]] const std::vector<std::string>& stored() const noexcept { return stored_; }
    /// Those of messages that are historical, or that are not, in this order.
    [[nodiscard]] std::vector<std::string> stored(bool is_historical) const {
        std::vector<std::string> found;
        for (std::size_t i = 0; i < stored_.size(); ++i) {
            if (are_historical_[i] == is_historical) {
                found.push_back(stored_[i]);
            }
        }
        return found;
    }
    /// Loses the last messages and their ids, as after a power failure.
    void lose_last(std::size_t count) {
        must_respond = true;
        for (; count > 0 && !stored_.empty(); --count) {
            ids_.erase(stored_ids_.back());
            stored_ids_.pop_back();
            are_historical_.pop_back();
            stored_.pop_back();
        }
    }
    /// Whether a message is refused permanently.
    [[nodiscard]] bool refuses(const std::string& payload) const {
        return payload.size() > payload_bytes_max || (refuse && refuse(payload));
    }
    std::function<bool(const std::string& payload)> refuse = {};
    std::size_t payload_bytes_max = 1'000'000;
    std::uint64_t stream = 0;  // its identity; 0: unknown
    bool keeps_order = false;  // stores the messages of a connection in their order
    /// After a loss until the next response: a loss could not be noticed if messages were stored without a response.
    bool must_respond = false;

    /// Is replaced by an empty one.
    void replace(std::uint64_t other_stream) {
        lose_last(stored_.size());
        stream = other_stream;
        must_respond = false;
    }
    /// Forgets the ids of stored messages, as at the end of a duplicate window.
    void forget_ids() { ids_.clear(); }
    template <class Whole = std::size_t>
    [[nodiscard]] Whole below(std::type_identity_t<Whole> limit) {
        return std::uniform_int_distribution<Whole>(0, limit - 1)(random_);
    }

    /// Returns the place of a message and whether it is new.
    std::pair<Place, bool> store(const std::string& id, const std::string& payload, bool is_historical) {
        const auto [found, is_new] = ids_.emplace(id, stored_.size() + 1);
        if (!is_new) {
            return {found->second, false};
        }
        stored_.push_back(payload);
        stored_ids_.push_back(id);
        are_historical_.push_back(is_historical);
        return {found->second, true};
    }

  private:
    std::mt19937_64 random_;
    std::vector<std::string> stored_;
    std::vector<std::string> stored_ids_;
    std::vector<bool> are_historical_;
    std::map<std::string, Place> ids_;
};

/// Connects to a SimulatedBackEnd. Nothing happens until the test calls step().
///
/// Threads: one. Limits: memory. Failure: none.
class SimulatedAdapter final : public Adapter {
  public:
    SimulatedAdapter(SimulatedBackEnd& back_end, Events events) : back_end_(back_end), events_(std::move(events)) {}

    void connect() override { state_ = State::connecting; }
    void send(const OutgoingMessage& message, std::uint64_t number) override {
        in_flight_.push_back({number, message.id, message.payload, message.is_historical, 0});
    }
    void check() override { is_requested_ = true; }
    void close() override {
        state_ = State::closed;
        is_requested_ = false;
        in_flight_.clear();
    }

    [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_.size(); }
    /// The back end fails.
    void fail() { end("connection closed"); }

    /// Does one thing that a network and a server may do, or with `is_kind`, one that helps.
    void step(bool is_kind) {
        is_kind = is_kind || back_end_.must_respond;
        if (state_ == State::connecting) {
            if (is_kind || back_end_.below(3) > 0) {
                state_ = State::up;
                back_end_.must_respond = false;
                events_.up({"simulated", is_kind ? std::optional(last_place()) : std::nullopt, back_end_.stream});
            } else {
                end("cannot connect");
            }
        } else if (std::exchange(is_requested_, false)) {
            back_end_.must_respond = false;
            events_.checked(last_place());
        } else if (state_ == State::up && !in_flight_.empty()) {
            respond(is_kind);
        } else if (state_ == State::up && !is_kind && back_end_.below(10) == 0) {
            end("connection closed");
        }
    }

  private:
    enum class State : std::uint8_t { closed, connecting, up };
    struct Message {
        std::uint64_t number;
        std::string id;
        std::string payload;
        bool is_historical;
        Place place;  // not 0: it is stored, and the response will be repeated
    };

    [[nodiscard]] Place last_place() const { return back_end_.stored().size(); }

    void end(const std::string& reason) {
        close();
        events_.down(reason, false);
    }

    void respond(bool is_kind) {
        const std::uint64_t chance = is_kind ? 99 : back_end_.below(100);
        // Mostly the oldest message, because a server processes a connection in order.
        const std::size_t index = chance < (back_end_.keeps_order ? 4 : 15) ? back_end_.below(in_flight_.size()) : 0;
        const Message message = in_flight_[index];
        if (chance < 4) {  // the server goes away after it has received some messages
            for (std::size_t i = 0; i < index; ++i) {
                if (in_flight_[i].place == 0 && !back_end_.refuses(in_flight_[i].payload)) {
                    back_end_.store(in_flight_[i].id, in_flight_[i].payload, in_flight_[i].is_historical);
                }
            }
            return end("connection closed");
        }
        const bool is_answered_again = chance < 8;
        if (!is_answered_again) {
            in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(index));
        }
        if (message.place != 0) {
            return events_.acknowledged(message.number, true, message.place);
        }
        if (chance >= 8 && chance < 20) {
            return events_.refused(message.number, Refusal::transient, "no space", {});
        }
        if (back_end_.refuses(message.payload)) {
            return events_.refused(message.number, Refusal::permanent, "bad content", {});
        }
        const auto [place, is_new] = back_end_.store(message.id, message.payload, message.is_historical);
        if (is_answered_again) {
            in_flight_[index].place = place;
        }
        if (chance >= 20 && chance < 23) {
            return;  // the acknowledgment is lost
        }
        back_end_.must_respond = back_end_.must_respond && !is_new;
        events_.acknowledged(message.number, !is_new, place);
    }

    SimulatedBackEnd& back_end_;
    const Events events_;
    State state_ = State::closed;
    bool is_requested_ = false;  // for the last place
    std::vector<Message> in_flight_;
};

}  // namespace telegate::uplink
