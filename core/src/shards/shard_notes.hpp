#pragma once

#include "core/limits.hpp"
#include "core/monitor.hpp"
#include "core/reactor.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>

namespace telegate {

/// A copy of a monitor event, with the data that it refers to.
/// Threads: one at a time. Limits: none. Failure: the constructor may throw std::bad_alloc.
class KeptEvent {
  public:
    explicit KeptEvent(const MonitorEvent& event)
        : endpoint_(event.endpoint),
          peer_(event.peer),
          detail_(event.detail),
          status_(event.status == nullptr ? nullptr : std::make_unique<PeerStatus>(*event.status)),
          event_(event) {
        event_.endpoint = endpoint_;
        event_.peer = peer_;
        event_.detail = detail_;
        event_.status = status_.get();
    }
    KeptEvent(const KeptEvent&) = delete;
    KeptEvent& operator=(const KeptEvent&) = delete;

    [[nodiscard]] const MonitorEvent& get() const noexcept { return event_; }

  private:
    const std::string endpoint_;
    const std::string peer_;
    const std::string detail_;
    const std::unique_ptr<const PeerStatus> status_;
    MonitorEvent event_;
};

/// A notification from a shard to the publisher's thread.
struct ShardNote {
    enum class Kind : std::uint8_t { opened, ended, subscribed, canceled, event };
    Kind kind;
    std::uint64_t id = 0;  // session id
    std::string prefix;
    std::unique_ptr<KeptEvent> event;
};

/// Passes a shard's notes to the publisher's thread, in order. One batch is in flight at a time, until the other thread
/// releases it; later notes are collected meanwhile.
///
/// Threads: the shard's.
/// Limits: full at shard_notes_max notes or shard_note_bytes_max bytes; the shard must then add only what is necessary.
/// Failure: add(ShardNote) and send() may throw std::bad_alloc.
class ShardNotes {
  public:
    using Batch = std::list<ShardNote>;
    /// `deliver` passes a batch to the other thread.
    explicit ShardNotes(std::function<void(std::shared_ptr<const Batch>)> deliver) : deliver_(std::move(deliver)) {}

    void add(ShardNote note) {
        bytes_ += note.prefix.size();
        notes_.push_back(std::move(note));
    }
    /// Adds notes without prefixes.
    void add(Batch&& notes) noexcept { notes_.splice(notes_.end(), notes); }
    [[nodiscard]] bool is_full() const noexcept {
        return notes_.size() >= limits::shard_notes_max || bytes_ >= limits::shard_note_bytes_max;
    }
    void send() {
        if (is_on_its_way() || notes_.empty()) {
            return;
        }
        const auto batch = std::make_shared<Batch>();
        batch->swap(notes_);
        try {
            deliver_(batch);
        } catch (...) {
            batch->swap(notes_);
            throw;
        }
        bytes_ = 0;
        on_its_way_ = batch;
    }

  private:
    [[nodiscard]] bool is_on_its_way() const noexcept { return !on_its_way_.expired(); }

    const std::function<void(std::shared_ptr<const Batch>)> deliver_;
    Batch notes_;
    std::size_t bytes_ = 0;  // of prefixes
    std::weak_ptr<const Batch> on_its_way_;
};

}  // namespace telegate
