#include "base/call_on_reactor.hpp"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

namespace telegate {
namespace {

struct PostedCall {
    enum class Progress : std::uint8_t { waiting, running, done, canceled };

    std::function<void()> call;
    std::mutex mutex;  // guards `progress`
    std::condition_variable changed;
    Progress progress = Progress::waiting;
    std::exception_ptr failure;  // exception thrown by `call`
};

/// The waiting caller keeps the request alive while its call runs, and is its only owner afterwards.
void answer(std::shared_ptr<PostedCall> held) {
    PostedCall& request = *held;
    {
        const std::lock_guard lock(request.mutex);
        if (request.progress == PostedCall::Progress::canceled) {
            return;
        }
        request.progress = PostedCall::Progress::running;
    }
    held.reset();
    try {
        request.call();
    } catch (...) {
        request.failure = std::current_exception();
    }
    const std::lock_guard lock(request.mutex);
    request.progress = PostedCall::Progress::done;
    request.changed.notify_all();
}

}  // namespace

bool call_on_reactor(Reactor& reactor, std::function<void()> call, std::chrono::milliseconds time) {
    const auto request = std::make_shared<PostedCall>();
    request->call = std::move(call);
    reactor.post([held = request]() mutable { answer(std::move(held)); });
    std::unique_lock lock(request->mutex);
    const auto is_done = [&] {
        return request->progress == PostedCall::Progress::done;
    };
    if (!request->changed.wait_for(lock, time, is_done)) {
        if (request->progress == PostedCall::Progress::waiting) {
            request->progress = PostedCall::Progress::canceled;
            return false;
        }
        request->changed.wait(lock, is_done);
    }
    lock.unlock();
    if (request->failure != nullptr) {
        std::rethrow_exception(std::exchange(request->failure, nullptr));
    }
    return true;
}

}  // namespace telegate
