#include "peers/dialer.hpp"

#include <exception>
#include <system_error>
#include <utility>

namespace telegate {

Dialer::Dialer(Reactor& reactor, Target target, const ReconnectPause& pause, Events events)
    : reactor_(reactor),
      target_(std::move(target)),
      endpoint_text_(to_string(target_.endpoint)),
      events_(std::move(events)),
      pause_(pause),
      alarm_(reactor, [this] { try_again(); }) {}

void Dialer::start() {
    connector_.reset();  // first, so that there is only one attempt at a time
    connector_ = transport::connect(reactor_, target_.endpoint, [this](std::unique_ptr<Stream> stream, int error) {
        finish_attempt(std::move(stream), error);
    });
}

void Dialer::retry() {
    if (!stopped_) {
        alarm_.set(pause_.next());
    }
}

void Dialer::stop() {
    stopped_ = true;
    alarm_.cancel();
}

void Dialer::try_again() {
    try {
        start();
    } catch (const std::exception& error) {  // descriptors may be exhausted, for example
        events_.on_failure(*this, error.what());
    }
}

void Dialer::finish_attempt(std::unique_ptr<Stream> stream, int error) {
    if (stopped_) {
        return;
    }
    if (stream == nullptr) {
        return events_.on_failure(*this, std::generic_category().message(error));
    }
    events_.on_stream(*this, std::move(stream));
}

}  // namespace telegate
