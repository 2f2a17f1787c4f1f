#include "exec/once_driver.hpp"

#include <chrono>
#include <string>

namespace telegate::exec {

ReadResult OnceDriver::read(SampleBatch& batch, MonoTime /*now*/) noexcept {
    try {
        return read_or_throw(batch);
    } catch (...) {
        return command_.give_up();
    }
}

ReadResult OnceDriver::read_or_throw(SampleBatch& batch) {
    if (!command_.child().finish_end(command_.cancel())) {  // of a run that was interrupted
        return command_.still_not_ended();
    }
    if (command_.is_canceled()) {
        return {ReadResult::Status::interrupted};
    }
    if (const std::string fault = command_.start(); !fault.empty()) {
        return command_.fail(fault);
    }
    const ReadResult result = run(batch);
    if (result.status != ReadResult::Status::interrupted) {
        command_.report_counts(batch, true);
        batch.add_absent_for_missing();
    }
    return result;
}

ReadResult OnceDriver::run(SampleBatch& batch) {
    using std::chrono::milliseconds;
    const MonoTime deadline = std::chrono::steady_clock::now() + command_.options().timeout;
    for (;;) {
        const CommandEvent event = command_.wait_until(deadline);
        if (event.is_canceled) {
            command_.child().begin_end();
            (void)command_.child().finish_end(command_.cancel());
            return {ReadResult::Status::interrupted};
        }
        if (event.has_ended) {
            command_.take_rest(batch);
            return judge();
        }
        if (event.has_output) {
            command_.take_output(batch);
        }
        if (event.has_errors) {
            command_.take_errors();
        }
        if (command_.has_printed_too_much()) {
            return end_early(too_much());
        }
        if (std::chrono::steady_clock::now() >= deadline) {
            command_.take_errors();
            const auto ms = std::chrono::duration_cast<milliseconds>(command_.options().timeout).count();
            return end_early("did not end within " + std::to_string(ms) + " ms");
        }
    }
}

ReadResult OnceDriver::end_early(std::string_view what) {
    const ReadResult result = command_.fail_with_last_words(what);
    command_.child().begin_end();
    return command_.child().finish_end(command_.cancel()) ? result : command_.still_not_ended();
}

ReadResult OnceDriver::judge() {
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

std::string OnceDriver::too_much() const {
    return "printed more than " + std::to_string(command_.options().output_bytes_max) + " bytes";
}

}  // namespace telegate::exec
