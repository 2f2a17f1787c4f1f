#include "durable/sample_reader.hpp"

#include <utility>

namespace telegate {

SampleReader::SampleReader(SampleSources sources, SampleSelection selection, const Start& start,
                           std::function<void()> wake)
    : sources_(sources),
      selection_(std::make_shared<const SampleSelection>(std::move(selection))),
      filter_(sources.text.channels(), selection_->prefixes),
      start_(start),
      wake_(std::move(wake)) {}

SampleReader::Result SampleReader::read(SamplePage& page) {
    if (arrival_ != nullptr) {
        return arrival_->is_there ? read_arrival(page) : Result::waiting;
    }
    if (over_) {
        page = {};
        return *over_;
    }
    if (sources_.log == nullptr && start_.epoch_ms != sources_.text.epoch_ms()) {
        page = {};
        return Result::unknown_epoch;
    }
    if (is_in_history()) {
        const Result result = read_history(page);
        if (sources_.log == nullptr || page.missing.empty()) {
            start_.position = page.end_position;
            return result;
        }
    }
    return request_log();
}

bool SampleReader::is_in_history() const noexcept {
    const bool is_at_position =
        start_.epoch_ms == sources_.text.epoch_ms() && !start_.since_utc_ns && !start_.finds_topics;
    return sources_.log == nullptr || (is_at_position && start_.position >= sources_.history.oldest());
}

SampleReader::Result SampleReader::read_history(SamplePage& page) {
    const History::Read read = sources_.history.read(start_.position, read_);
    page.state = SamplePage::State::more;
    page.is_from_log = false;
    page.epoch_ms = start_.epoch_ms;
    page.text = {std::shared_ptr<SampleText>(), &sources_.text};  // it is not owned
    page.samples.clear();
    page.positions.clear();
    page.gaps.clear();
    page.missing.clear();
    page.position = start_.position;
    page.end_position = read.next;
    if (read.missed > 0) {
        page.missing.push_back({start_.position, start_.position + read.missed - 1, std::nullopt});
    }
    for (std::size_t i = 0; i < read.count; ++i) {
        if (filter_.matches(read_[i].channel)) {
            page.samples.push_back(read_[i]);
            page.positions.push_back(read.next - read.count + i);
        }
    }
    return read.count == 0 && read.missed == 0 ? Result::end : Result::page;
}

SampleReader::Result SampleReader::request_log() {
    auto arrival = std::make_shared<Arrival>();
    const bool is_asked =
        sources_.log->request({start_, selection_, is_at_history_}, [arrival, wake = wake_](SamplePage page) {
            arrival->page = std::move(page);
            arrival->is_there = true;
            wake();
        });
    if (!is_asked) {
        return Result::late;
    }
    arrival_ = std::move(arrival);
    return Result::waiting;
}

SampleReader::Result SampleReader::read_arrival(SamplePage& page) {
    using State = SamplePage::State;
    page = std::move(arrival_->page);
    arrival_ = nullptr;
    next_epoch_ms_ = page.next_epoch_ms;
    switch (page.state) {
        case State::late: return Result::late;
        case State::failed: over_ = Result::failed; return Result::failed;
        case State::unknown_epoch: over_ = Result::unknown_epoch; return Result::unknown_epoch;
        case State::ended: over_ = Result::ended; break;
        case State::crashed: over_ = Result::crashed; break;
        case State::memory:
        case State::more: break;
    }
    is_at_history_ = page.state == State::memory;
    start_ = {page.epoch_ms, page.end_position};
    return Result::page;
}

}  // namespace telegate
