#include "peers/session_list.hpp"

#include <algorithm>
#include <utility>

namespace telegate {

Session& SessionList::add(std::unique_ptr<Session> session, const Note& note) noexcept {
    session->set_index(sessions_.size());
    notes_.push_back(note);
    return *sessions_.emplace_back(std::move(session));
}

SessionList::Note SessionList::remove(const Session& session) noexcept {
    const std::size_t index = session.index();
    const Note note = notes_[index];
    removed_.push_back(std::move(sessions_[index]));
    if (index + 1 != sessions_.size()) {
        sessions_[index] = std::move(sessions_.back());
        sessions_[index]->set_index(index);
        notes_[index] = notes_.back();
    }
    sessions_.pop_back();
    notes_.pop_back();
    return note;
}

Session* SessionList::find(std::uint64_t id) const noexcept {
    const auto found =
        std::find_if(sessions_.begin(), sessions_.end(), [&](const auto& each) { return each->id() == id; });
    return found == sessions_.end() ? nullptr : found->get();
}

Session* SessionList::of(const Dialer& dialer) const noexcept {
    const auto found =
        std::find_if(notes_.begin(), notes_.end(), [&](const Note& note) { return note.dialer == &dialer; });
    return found == notes_.end() ? nullptr : sessions_[static_cast<std::size_t>(found - notes_.begin())].get();
}

Session* SessionList::first_retiring() const noexcept {
    Session* found = nullptr;
    for (const auto& session : sessions_) {
        if (!session->is_retiring()) {
            continue;
        }
        const bool is_better = found == nullptr || session->is_caught_up() > found->is_caught_up() ||
                               (session->is_caught_up() == found->is_caught_up() && session->id() < found->id());
        found = is_better ? session.get() : found;
    }
    return found;
}

std::vector<Session*> SessionList::accepted_at(std::string_view endpoint) const {
    std::vector<Session*> accepted;
    for (const auto& session : sessions_) {
        if (!session->initiator() && session->endpoint() == endpoint) {
            accepted.push_back(session.get());
        }
    }
    return accepted;
}

}  // namespace telegate
