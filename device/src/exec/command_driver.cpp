#include "exec/command_driver.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace telegate::exec {
namespace {

constexpr Duration restart_wait_least = std::chrono::seconds(1);
constexpr Duration restart_wait_most = std::chrono::seconds(60);
/// A command that ran this long did not fail at its start, so its next wait is the shortest again.
constexpr Duration settled_after = std::chrono::seconds(10);
/// Output that was not read for longer than this has no known time, because the device was stopped.
constexpr Duration unread_max = std::chrono::seconds(5);
constexpr double jitter = 0.25;

MonoTime now() noexcept {
    return std::chrono::steady_clock::now();
}

}  // namespace

ReadResult CommandDriver::read(SampleBatch& batch, MonoTime /*now*/) noexcept {
    try {
        return read_or_throw(batch);
    } catch (const std::exception& error) {
        command_.child().begin_end();
        return command_.fail(error.what());
    }
}

ReadResult CommandDriver::read_or_throw(SampleBatch& batch) {
    if (command_.child().is_ending() && !command_.child().finish_end(command_.cancel())) {
        return command_.still_not_ended();
    }
    if (command_.is_canceled()) {
        return {ReadResult::Status::interrupted};
    }
    return streams() ? read_on(batch) : run_once(batch);
}

ReadResult CommandDriver::end_early(std::string_view why) {
    const ReadResult result = command_.fail_with_last_words(why);
    command_.child().begin_end();
    return command_.child().finish_end(command_.cancel()) ? result : command_.still_not_ended();
}

ReadResult CommandDriver::run_once(SampleBatch& batch) {
    if (const std::string fault = command_.start(); !fault.empty()) {
        return command_.fail(fault);
    }
    const ReadResult result = await_end(batch);
    if (result.status != ReadResult::Status::interrupted) {
        command_.report_counts(batch, true);
        batch.add_absent_for_missing();
    }
    return result;
}

ReadResult CommandDriver::await_end(SampleBatch& batch) {
    using std::chrono::milliseconds;
    const MonoTime deadline = now() + command_.options().timeout;
    for (;;) {
        const CommandEvent event = command_.wait_until(deadline);
        if (event.is_canceled) {
            command_.child().begin_end();
            (void)command_.child().finish_end(command_.cancel());
            return {ReadResult::Status::interrupted};
        }
        if (event.has_ended) {
            command_.read_rest(batch);
            return check_end();
        }
        if (event.has_output) {
            command_.read_output(batch);
        }
        if (event.has_errors) {
            command_.read_errors();
        }
        if (command_.has_printed_too_much()) {
            return end_early(too_much());
        }
        if (now() >= deadline) {
            command_.read_errors();
            const auto ms = std::chrono::duration_cast<milliseconds>(command_.options().timeout).count();
            return end_early("did not end within " + std::to_string(ms) + " ms");
        }
    }
}

ReadResult CommandDriver::check_end() {
    const std::string end = command_.child().collect();
    if (!end.empty()) {
        return command_.fail_with_last_words(end);
    }
    if (command_.has_printed_too_much()) {
        return command_.fail(too_much());
    }
    if (command_.has_only_refused()) {
        return command_.fail("all lines refused, last reason", command_.why_refused());
    }
    return {};
}

std::string CommandDriver::too_much() const {
    return "printed more than " + std::to_string(command_.options().output_bytes_max) + " bytes";
}

/// Reads a command that is kept running, and starts it if necessary.
ReadResult CommandDriver::read_on(SampleBatch& batch) {
    if (command_.is_of_another_thread()) {
        // The device has a new thread, and the command dies with the old one. This is not a failure of the command.
        command_.read_rest(batch);
        command_.child().begin_end();
        if (!command_.child().finish_end(command_.cancel())) {
            return command_.still_not_ended();
        }
        restart_at_ = {};
    }
    const ReadResult result = command_.child().exists() ? listen(batch) : begin(batch);
    listened_at_ = now();
    return result;
}

/// Returns `interrupted` while it is too early to restart the command, because the command was not read.
ReadResult CommandDriver::begin(SampleBatch& batch) {
    if (now() < restart_at_) {
        (void)command_.wait_until(std::min(restart_at_, now() + Driver::wait_max));
        if (command_.is_canceled() || now() < restart_at_) {
            return {ReadResult::Status::interrupted};
        }
    }
    started_at_ = now();
    if (const std::string fault = command_.start(); !fault.empty()) {
        schedule_restart();
        return command_.fail(fault);
    }
    heard_at_ = started_at_;
    command_.report_counts(batch, true);
    return {};
}

ReadResult CommandDriver::listen(SampleBatch& batch) {
    if (now() - listened_at_ > unread_max) {
        command_.skip_output(batch);
        heard_at_ = now();
    }
    const std::size_t good = command_.good_lines();
    const CommandEvent event = command_.wait_until(std::min(now() + Driver::wait_max, silent_at()));
    if (event.has_ended) {
        command_.read_rest(batch);
        return report_end(batch);
    }
    if (event.has_output) {
        command_.read_output(batch);
    }
    if (event.has_errors) {
        command_.read_errors();
    }
    command_.report_counts(batch, false);
    if (command_.child().output() < 0) {
        return await_end_after_output(batch);
    }
    if (command_.good_lines() > good) {
        heard_at_ = now();
    } else if (now() >= silent_at()) {
        schedule_restart();
        return end_early("no valid line for " + std::to_string(command_.options().silence_max.count()) + " ms");
    }
    return {event.is_canceled ? ReadResult::Status::interrupted : ReadResult::Status::ok};
}

/// The output of a command is closed slightly before its exit can be detected.
ReadResult CommandDriver::await_end_after_output(SampleBatch& batch) {
    const MonoTime deadline = now() + ChildProcess::end_patience;
    while (now() < deadline) {
        const CommandEvent event = command_.wait_until(deadline);
        if (event.has_ended) {
            command_.read_rest(batch);
            return report_end(batch);
        }
        if (event.is_canceled) {
            return {ReadResult::Status::interrupted};
        }
        if (event.has_errors) {
            command_.read_errors();
        }
    }
    schedule_restart();
    return end_early("closed its output but did not exit");
}

MonoTime CommandDriver::silent_at() const noexcept {
    const auto most = command_.options().silence_max;
    return most > most.zero() ? heard_at_ + most : MonoTime::max();
}

ReadResult CommandDriver::report_end(SampleBatch& batch) {
    const std::string end = command_.child().collect();
    command_.report_counts(batch, false);
    schedule_restart();
    return command_.fail_with_last_words(end.empty() ? "ended" : std::string_view(end));
}

void CommandDriver::schedule_restart() noexcept {
    const bool had_settled = now() - started_at_ >= settled_after;
    wait_ = wait_ == Duration(0) || had_settled ? restart_wait_least : std::min(2 * wait_, restart_wait_most);
    const double factor = 1 - jitter + 2 * jitter * random_.next_unit();
    restart_at_ = now() + std::chrono::duration_cast<Duration>(wait_ * factor);
}

void CommandDriver::reset() noexcept {
    if (!streams()) {
        return;
    }
    command_.child().begin_end();
    wait_ = Duration(0);
    restart_at_ = {};
}

}  // namespace telegate::exec

namespace telegate {

std::unique_ptr<Driver> make_exec_driver(ExecDriverOptions options) {
    return std::make_unique<exec::CommandDriver>(std::move(options));
}

}  // namespace telegate
