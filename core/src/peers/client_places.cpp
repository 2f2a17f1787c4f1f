#include "peers/client_places.hpp"

#include "core/publisher.hpp"
#include "peers/remote_sessions.hpp"
#include "session/outbox.hpp"

namespace telegate {
namespace {

enum class Use : std::uint8_t { none, slow, full };

Use use_of(const Session& session) noexcept {
    const Outbox& outbox = *session.outbox();
    if (outbox.sent() == 0) {
        return Use::none;
    }
    return outbox.dropped() > 0 && outbox.backlog().messages() > 0 ? Use::slow : Use::full;
}

/// Returns null if there is none. `any_use`: also one that is of full use, or has begun only now.
Session* least_useful(const SessionList& sessions, std::string_view client, bool any_use) noexcept {
    const auto now = std::chrono::steady_clock::now();
    Session* found = nullptr;
    Use use_of_found = Use::full;
    for (const auto& session : sessions.all()) {
        const bool counts = session->state() == Session::State::open && session->client() == client &&
                            sessions.note_of(*session).dialer == nullptr && !session->stays_in_process();
        const Use use = counts ? use_of(*session) : Use::full;
        const bool is_new = use == Use::none && now - sessions.note_of(*session).began_at < ClientPlaces::idle_min;
        if (!counts || (!any_use && (use == Use::full || is_new))) {
            continue;
        }
        const bool is_older = found != nullptr && session->id() < found->id();
        if (found == nullptr || use < use_of_found || (use == use_of_found && is_older == (use != Use::full))) {
            found = session.get();
            use_of_found = use;
        }
    }
    return found;
}

}  // namespace

void ClientPlaces::add(const PendingHandshakes::Handshake& handshake, const std::string& client) {
    shares_.add(client);
    pending_.add(handshake, client);
}

void ClientPlaces::remove(std::uint64_t id, std::string_view client) noexcept {
    pending_.remove(id);
    shares_.remove(client);
}

void ClientPlaces::make_place(const std::string& client, const SessionList& sessions, const RemoteSessions& remote) {
    const bool others_yield = shares_.yields_to(client);
    const auto now = std::chrono::steady_clock::now();
    if (!others_yield && client == unyielding_ && now < unyielding_until_) {
        return;
    }
    const std::string hog(others_yield ? shares_.most().client : client);
    if (Session* const session = least_useful(sessions, hog, others_yield)) {
        return session->close(too_many_connections_of_client);
    }
    const std::uint64_t id = others_yield && remote.close ? remote.newest_of(hog) : 0;
    if (id != 0) {
        return remote.close(id, too_many_connections_of_client);
    }
    unyielding_ = client;
    unyielding_until_ = now + search_pause;
}

}  // namespace telegate
