#include "services/services.hpp"

#include <algorithm>
#include <utility>

namespace telegate {
namespace {

/// Maximum number of peers with work at the same time; requests of other peers stay in their sockets.
constexpr std::size_t ready_peers_max = 4;

SocketOptions socket_options(std::size_t connections_max) {
    SocketOptions options;
    options.sessions_max = std::clamp<std::size_t>(connections_max, 1, Services::peers_max);
    options.backlog_bytes_max = Services::backlog_bytes_max;
    options.message_bytes_max = Services::message_bytes_max;
    options.frames_per_message_max = 16;      // more than any chain of brokers adds
    options.receive_buffer_bytes = 4 * 1024;  // all requests in the buffer are taken at once
    return options;
}

}  // namespace

Services::Services(ServicesParts parts, std::span<const ServiceEndpoint> endpoints, std::size_t connections_max)
    : reactor_(parts.reactor),
      pump_(parts.pump),
      monitor_(std::move(parts.monitor)),
      router_(parts.reactor, socket_options(connections_max)),
      endpoints_(router_, endpoints),
      answers_(
          parts.answers, [this] { wake_replays(); }, counts_),
      status_(parts.reactor, std::move(parts.status), [this](const StatusText& text) { send_status(text); }),
      turn_later_(parts.reactor, [this] { turn(); }) {
    router_.set_monitor([this](const MonitorEvent& event) { record(event); });
    router_.set_on_writable([this](std::string_view peer) { on_writable(peer); });
    router_.set_on_readable([this] {
        has_input_ = true;
        turn_later_.schedule();
    });
}

void Services::close(std::chrono::milliseconds grace, const std::function<void()>& done) {
    is_closing_ = true;
    router_.close(grace, done);
}

ServicesStatus Services::status() const {
    ServicesStatus status;
    static_cast<ServiceCounts&>(status) = counts_;
    for (const ServiceEndpoint& each : endpoints_.bound()) {
        status.endpoints.push_back({to_string(each.endpoint)});
        if (each.curve != nullptr) {
            status.endpoints.back().curve_key = to_z85(each.curve->keys.public_key);
        }
        if (each.curve != nullptr && each.curve->clients != nullptr) {
            status.endpoints.back().clients = each.curve->clients->size();
        }
    }
    status.peers = router_.peers().size();
    status.peers_revoked = endpoints_.revoked();
    status.replays_active = jobs_.size();
    status.backlog_bytes = router_.backlog_bytes();
    status.totals = router_.totals();
    return status;
}

void Services::record(const MonitorEvent& event) {
    if (event.kind == MonitorEventKind::handshake_done) {
        owners_.record_handshake(event.status->identity, event.peer_id);
    } else if (event.kind == MonitorEventKind::disconnected && event.status != nullptr) {
        const std::string& identity = event.status->identity;
        owners_.record_left(identity, event.peer_id);
        if (!router_.knows(identity)) {
            gone_.push_back(identity);
            turn_later_.schedule();
        }
    }
    if (monitor_) {
        monitor_(event);
    }
}

void Services::on_writable(std::string_view peer) {
    (owners_.take_arrival(peer) ? gone_ : writable_).emplace_back(peer);
    turn_later_.schedule();
}

/// Runs one slice of work. If more remains, continues after the event loop has checked its descriptors.
void Services::turn() {
    if (is_closing_) {
        return;
    }
    const MonoTime until = clock_.mono_now() + turn_time;
    check_peers();
    do {
        receive_requests();
        answer_next();
        work_on_next();
    } while (has_work() && clock_.mono_now() < until);
    if (has_work()) {
        turn_later_.schedule();
    }
}

bool Services::has_work() const noexcept {
    return has_input_ || !ready_.empty() || std::any_of(jobs_.begin(), jobs_.end(), can_go_on);
}

/// Called on tg-log-read.
void Services::wake_replays() noexcept {
    const auto go_on = [this] {
        for (Job& job : jobs_) {
            job.waits_for = job.waits_for == Job::WaitsFor::log ? Job::WaitsFor::nothing : job.waits_for;
        }
        turn_later_.schedule();
    };
    reactor_.post(go_on);
}

void Services::check_peers() {
    for (const std::uint64_t id : owners_.take_superseded()) {
        router_.close_peer(id, "identity taken over");
    }
    for (const std::string& peer : std::exchange(gone_, {})) {
        forget(peer);
    }
    for (const std::string& peer : std::exchange(writable_, {})) {
        const auto found = peers_.find(peer);
        if (found != peers_.end()) {
            found->second.stop_waiting_for(Peer::WaitsFor::room);
            make_ready(*found);
        }
        for (Job& job : jobs_) {
            if (job.waits_for == Job::WaitsFor::room && job.peer == peer) {
                job.waits_for = Job::WaitsFor::nothing;
            }
        }
    }
}

/// Removes a peer that has disconnected, with its pending requests.
void Services::forget(std::string_view peer) {
    counts_.replies_lost += std::erase_if(jobs_, [&](const Job& job) { return job.peer == peer; });
    const auto found = peers_.find(peer);
    if (found != peers_.end()) {
        counts_.replies_lost += found->second.pending.size();
        std::erase(ready_, &*found);
        peers_.erase(found);
    }
}

/// Receives the requests from one peer. The peer is paused until these are answered.
void Services::receive_requests() {
    if (!has_input_ || ready_.size() >= ready_peers_max) {
        return;
    }
    MessageBatch batch;
    has_input_ = false;  // reset first, because receive() may set it again
    if (!router_.receive(batch)) {
        return;
    }
    has_input_ = true;
    pump_.catch_up();
    const auto found = peers_.try_emplace(std::string(batch.peer())).first;
    router_.pause(found->first);
    found->second.pending.add(batch);
    make_ready(*found);
}

void Services::make_ready(PeerEntry& peer) noexcept {
    if (!peer.second.is_ready && peer.second.can_go_on()) {
        ready_.push_back(&peer);
        peer.second.is_ready = true;
    }
}

void Services::answer_next() {
    if (ready_.empty()) {
        return;
    }
    PeerEntry& peer = *ready_.front();
    ready_.erase(ready_.begin());
    peer.second.is_ready = false;
    answer_first(peer);
    make_ready(peer);
    if (peer.second.pending.empty()) {
        router_.resume(peer.first);
        if (peer.second.replays == 0) {
            peers_.erase(peers_.find(peer.first));
        }
    }
}

void Services::answer_first(PeerEntry& entry) {
    const ServiceCounts before = counts_;
    Peer& peer = entry.second;
    const PendingRequest pending = peer.pending.front();
    Answered answered = answers_.answer(
        pending, {peer.status, peer.replays, jobs_.size(), router_.backlog_bytes() > large_backlogs_bytes_max});
    if (std::holds_alternative<NeedsStatus>(answered)) {
        status_.request();
        peer.waits_for = Peer::WaitsFor::status;
        return;
    }
    if (auto* const replay = std::get_if<std::unique_ptr<HistoryReplay>>(&answered)) {
        jobs_.push_back({entry.first, pending.envelope, std::move(*replay), ""});
        ++peer.replays;
        return end_first(peer);
    }
    const SendStatus sent = send(entry.first, pending.envelope, std::get<std::string>(answered));
    if (sent == SendStatus::full) {
        counts_ = before;  // the reply is created again when there is capacity, so it need not be stored
        peer.waits_for = Peer::WaitsFor::room;
        return;
    }
    counts_.replies_lost += sent == SendStatus::unknown_peer ? 1U : 0U;
    end_first(peer);
}

void Services::end_first(Peer& peer) noexcept {
    peer.waits_for = Peer::WaitsFor::nothing;
    peer.status.reset();
    peer.pending.pop_front();
}

void Services::send_status(const StatusText& text) {
    for (PeerEntry& peer : peers_) {
        if (peer.second.stop_waiting_for(Peer::WaitsFor::status)) {
            peer.second.status = text;
            make_ready(peer);
        }
    }
    turn_later_.schedule();
}

void Services::work_on_next() {
    const auto job = std::find_if(jobs_.begin(), jobs_.end(), can_go_on);
    if (job == jobs_.end()) {
        return;
    }
    work_on(job);
}

void Services::work_on(std::list<Job>::iterator job) {
    const auto step = job->replay == nullptr ? HistoryReplay::Step::more : job->replay->step();
    if (step == HistoryReplay::Step::waiting) {
        job->waits_for = Job::WaitsFor::log;
    } else if (step == HistoryReplay::Step::done) {
        counts_.samples_replayed += job->replay->samples();
        ++counts_.replays_completed;
        job->answer = job->replay->take_answer();
        job->replay = nullptr;
    }
    if (job->replay == nullptr) {
        send_reply(job);
    } else {
        jobs_.splice(jobs_.end(), jobs_, job);
    }
}

void Services::send_reply(std::list<Job>::iterator job) {
    const SendStatus sent = send(job->peer, job->envelope, job->answer);
    if (sent == SendStatus::full) {
        job->waits_for = Job::WaitsFor::room;
        return;
    }
    counts_.replies_lost += sent == SendStatus::unknown_peer ? 1U : 0U;
    end(job);
}

void Services::end(std::list<Job>::iterator job) noexcept {
    const auto peer = peers_.find(job->peer);
    jobs_.erase(job);
    if (peer != peers_.end() && --peer->second.replays == 0 && peer->second.pending.empty()) {
        peers_.erase(peer);
    }
}

SendStatus Services::send(std::string_view peer, const Frames& envelope, std::string_view body) {
    std::vector<Bytes> frames;
    for (const std::string& frame : envelope) {
        frames.push_back(as_bytes(frame));
    }
    frames.push_back(as_bytes(body));
    return router_.send(peer, frames);
}

}  // namespace telegate
