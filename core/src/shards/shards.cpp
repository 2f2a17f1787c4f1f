#include "shards/shards.hpp"

#include "reactor/deadline.hpp"
#include "reactor/rethrow_later.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

namespace telegate {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t nowhere = SIZE_MAX;

milliseconds left_until(steady_clock::time_point end) {
    return std::max(std::chrono::ceil<milliseconds>(end - steady_clock::now()), milliseconds(0));
}

}  // namespace

Shards::Shards(Reactor& reactor, const PublisherOptions& options, PeerTable& peers, RemoteEvents events)
    : reactor_(reactor),
      peers_(peers),
      remote_(peers.remote()),
      events_(std::move(events)),
      branches_(options.io_threads - 1),
      close_alarm_(reactor,
                   [this] {
                       for (std::size_t number = 0; number < branches_.size(); ++number) {
                           queues_[number]->drop_all();
                           flush(number);
                           if (!std::exchange(branches_[number].is_close_sent, true)) {
                               send_close(number);
                           }
                       }
                   }),
      alive_(std::make_shared<char>()) {
    for (std::size_t number = 0; number < branches_.size(); ++number) {
        Branch& branch = branches_[number];
        queues_.push_back(std::make_unique<ShardQueue>(branch.link, peers_.segments(), options.backlog_bytes_max,
                                                       queue_calls(number, options.loss_hooks)));
        branch.shard = std::make_unique<Shard>(options, number + 2, branch.link, calls_of(number));
    }
    if (branches_.empty()) {
        return;
    }
    remote_.hand_over = [this](Handover& handover, std::size_t sessions_here) {
        return hand_over(handover, sessions_here);
    };
    remote_.close = [this](std::uint64_t id, std::string_view why) {
        (void)close_peer(id, why);
    };
    remote_.flush = [this] {
        for (std::size_t number = 0; number < branches_.size(); ++number) {
            flush(number);
        }
    };
}

Shards::~Shards() {
    for (Branch& branch : branches_) {
        branch.shard.reset();  // before the queue, to which it returns its leases
    }
}

/// Returns the calls for thread `number`, which makes them.
ShardCalls Shards::calls_of(std::size_t number) {
    const std::weak_ptr<void> alive = alive_;
    Reactor& reactor = reactor_;
    PendingWake& posted_wake = branches_[number].posted_wake;
    ShardCalls calls;
    calls.deliver = [this, number, alive, &reactor](std::shared_ptr<const ShardNotes::Batch> notes) {
        reactor.post([this, number, alive, notes = std::move(notes)]() mutable {
            if (!alive.expired()) {
                read(number, std::exchange(notes, nullptr));
            }
        });
    };
    calls.wake = [this, number, alive, &reactor, &posted_wake] {
        if (!posted_wake.set()) {
            return;
        }
        reactor.post([this, number, alive] {
            if (!alive.expired()) {
                branches_[number].posted_wake.clear();  // first: later progress wakes again
                events_.advanced();
                flush(number);
            }
        });
    };
    calls.pass_on = [&reactor](const std::exception_ptr& failure) {
        reactor.post([failure] { std::rethrow_exception(failure); });
    };
    return calls;
}

/// Sessions that have ended are not reported: nobody would forget what they have lost.
ShardQueueCalls Shards::queue_calls(std::size_t number, const LossHooks& hooks) {
    return {[this, number] { (void)query<std::monostate>(number, [](Shard&) { return std::monostate(); }).get(); },
            [this, &hooks](const ShardReader& reader, const LostRun& run) {
                if (hooks.lost && remote_.find(reader.id) != nullptr) {
                    hooks.lost(reader.id, run, LossReason::slow);
                }
            }};
}

bool Shards::hand_over(Handover& handover, std::size_t sessions_here) {
    const std::size_t number = branch_for(handover, sessions_here);
    if (number == nowhere || !handover.stream->move_to(branches_[number].shard->reactor())) {
        return false;
    }
    Branch& branch = branches_[number];
    if (branch.places_free.empty()) {
        branch.places_free.push_back(branch.places++);
    }
    handover.place = branch.places_free.back();
    const std::uint64_t id = handover.id;
    ShardNotes::Batch end;
    end.push_back({ShardNote::Kind::ended, id, {}, nullptr});
    if (handover.displaced != 0) {
        remote_.end_handshake(handover.displaced);
    }
    remote_.add(id, {number, handover.place, handover.endpoint, handover.stream->peer(), handover.stream->client()});
    branch.places_free.pop_back();
    ++branch.sessions;
    // Posted calls are copied, streams are not copyable.
    auto held = std::make_shared<std::pair<Handover, ShardNotes::Batch>>(std::move(handover), std::move(end));
    branch.shard->post(
        [held = std::move(held)](Shard& shard) { shard.adopt(std::move(held->first), std::move(held->second)); });
    return true;
}

/// Returns the thread of the handshake to be displaced; otherwise the one with the fewest sessions, preferring other
/// threads over the publisher's own.
std::size_t Shards::branch_for(const Handover& handover, std::size_t sessions_here) const {
    if (handover.displaced != 0) {
        const RemoteSession* const displaced = remote_.find(handover.displaced);
        return displaced == nullptr ? nowhere : displaced->shard;
    }
    const auto fewest = std::min_element(branches_.begin(), branches_.end(),
                                         [](const Branch& a, const Branch& b) { return a.sessions < b.sessions; });
    return fewest->sessions > sessions_here ? nowhere : static_cast<std::size_t>(fewest - branches_.begin());
}

void Shards::flush(std::size_t number) {
    ShardQueue& queue = *queues_[number];
    queue.flush();
    send_closings(number);
    if (queue.empty() && closing_ && !std::exchange(branches_[number].is_close_sent, true)) {
        send_close(number);
    }
}

void Shards::set_delivery(const std::string& endpoint, const Delivery& delivery) {
    for (std::size_t number = 0; number < branches_.size(); ++number) {
        queues_[number]->flush();
        branches_[number].shard->post([endpoint, delivery](Shard& shard) { shard.set_delivery(endpoint, delivery); });
    }
}

void Shards::forget_delivery(const std::string& endpoint) {
    for (Branch& branch : branches_) {
        branch.shard->post([endpoint](Shard& shard) { shard.forget_delivery(endpoint); });
    }
}

bool Shards::send_to(std::uint64_t id, std::string_view topic, std::string_view payload,
                     const std::optional<SampleRange>& samples) {
    const RemoteSession* const remote = remote_.find(id);
    if (remote == nullptr) {
        return false;
    }
    queues_[remote->shard]->send_to({remote->place, id}, topic, payload, samples);
    peers_.flush_soon();
    return true;
}

void Shards::send_close(std::size_t number) {
    branches_[number].shard->post([end = close_end_](Shard& shard) {
        shard.catch_up();
        shard.peers().close(left_until(end), {});
    });
}

void Shards::close(milliseconds grace) {
    if (branches_.empty()) {
        return;
    }
    closing_ = true;
    close_end_ = std::min(close_end_, deadline_in(grace));
    close_alarm_.set(left_until(close_end_));
    for (std::size_t number = 0; number < branches_.size(); ++number) {
        if (branches_[number].is_close_sent) {
            send_close(number);  // it has less time now
        }
        flush(number);
    }
}

void Shards::close_accepted(const std::string& endpoint, milliseconds grace) {
    const steady_clock::time_point end = deadline_in(grace);
    for (std::size_t number = 0; number < branches_.size(); ++number) {
        branches_[number].closings.push_back({endpoint, end});
        flush(number);
    }
}

/// Closes the sessions of an endpoint on a thread that has taken what was pending for them. At the end of the grace
/// period, does not wait for it.
void Shards::send_closings(std::size_t number) {
    std::vector<Closing>& closings = branches_[number].closings;
    if (closings.empty()) {
        return;
    }
    const bool all = queues_[number]->empty();
    const steady_clock::time_point now = steady_clock::now();
    std::erase_if(closings, [&](const Closing& closing) {
        if (!all && now < closing.end) {
            return false;
        }
        branches_[number].shard->post([closing](Shard& shard) {
            shard.catch_up();
            shard.peers().close_accepted(closing.endpoint, left_until(closing.end));
        });
        return true;
    });
}

void Shards::set_monitored(bool monitored) {
    for (Branch& branch : branches_) {
        branch.shard->post([monitored](Shard& shard) { shard.set_monitored(monitored); });
    }
}

void Shards::read(std::size_t number, std::shared_ptr<const ShardNotes::Batch> notes) {
    for (const ShardNote& note : *notes) {
        rethrow_later(reactor_, [&] { read(note); });
    }
    notes = nullptr;
    // Has the thread check at once for more notes; otherwise it checks with its next timer.
    branches_[number].shard->post([](Shard&) {});
}

void Shards::read(const ShardNote& note) {
    switch (note.kind) {
        case ShardNote::Kind::opened:
            remote_.end_handshake(note.id);
            events_.opened(note.id);
            break;
        case ShardNote::Kind::ended:
            remove(note.id);
            events_.ended(note.id);
            peers_.on_remote_ended();
            break;
        case ShardNote::Kind::subscribed: events_.subscribed(note.id, note.prefix); break;
        case ShardNote::Kind::canceled: events_.canceled(note.id, note.prefix); break;
        case ShardNote::Kind::event:
            rethrow_later(reactor_, [&] { peers_.report(note.event->get()); });  // closes no session
            break;
    }
}

void Shards::remove(std::uint64_t id) {
    const RemoteSession* const session = remote_.find(id);
    if (session == nullptr) {
        return;
    }
    Branch& branch = branches_[session->shard];
    branch.places_free.push_back(session->place);
    --branch.sessions;
    remote_.remove(id);
}

bool Shards::close_peer(std::uint64_t id, std::string_view why) {
    const RemoteSession* const remote = remote_.find(id);
    if (remote == nullptr) {
        return false;
    }
    queues_[remote->shard]->flush();
    branches_[remote->shard].shard->post([id, why = std::string(why)](Shard& shard) {
        shard.catch_up();
        if (Session* const session = shard.peers().find(id)) {
            session->close(why);
        }
    });
    return true;
}

/// Connections that were handed over before have arrived by then.
void Shards::close_handshakes(const std::string& endpoint) {
    for (Branch& branch : branches_) {
        branch.shard->post([endpoint](Shard& shard) { shard.peers().close_handshakes(endpoint); });
    }
}

/// Queries one thread after it has applied everything in its link.
template <class Answer>
std::future<Answer> Shards::query(std::size_t number, const std::function<Answer(Shard&)>& question) {
    const auto promise = std::make_shared<std::promise<Answer>>();
    branches_[number].shard->post([promise, question](Shard& shard) {
        try {
            shard.catch_up();
            promise->set_value(question(shard));
        } catch (...) {
            promise->set_exception(std::current_exception());
        }
    });
    return promise->get_future();
}

/// Queries all threads at the same time, after they have applied what was published before.
template <class Answer>
std::vector<Answer> Shards::query(const std::function<Answer(Shard&)>& question) {
    std::vector<std::future<Answer>> futures;
    futures.reserve(branches_.size());
    for (std::size_t number = 0; number < branches_.size(); ++number) {
        queues_[number]->flush();
        futures.push_back(query(number, question));
    }
    std::vector<Answer> answers;
    answers.reserve(futures.size());
    for (auto& future : futures) {
        answers.push_back(future.get());
    }
    return answers;
}

void Shards::add_statuses(std::vector<PeerStatus>& all) {
    if (branches_.empty()) {
        return;
    }
    for (auto& some : query<std::vector<PeerStatus>>([](const Shard& shard) { return shard.statuses(); })) {
        std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
}

SocketTotals Shards::totals() {
    SocketTotals sum;
    for (const SocketTotals& each : query<SocketTotals>([](Shard& shard) { return shard.peers().totals(); })) {
        sum += each;
    }
    return sum;
}

}  // namespace telegate
