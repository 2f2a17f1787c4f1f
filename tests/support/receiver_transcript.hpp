#pragma once

#include "session/receiver.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace telegate::test {

struct ReceiverSetting {
    std::size_t buffer_bytes = 4096;
    std::size_t message_bytes_max = 64 * 1024;
    std::size_t frames_per_message_max = 1'000;
    std::size_t frames_per_turn = 1'000'000;
};

/// The output of a receiver as text, in order, so that two ways of feeding it can be compared.
struct Transcript {
    std::string messages;  // "(first|second)"
    std::string commands;  // "<body>"
    std::string fault;
    std::size_t unread_bytes_max = 0;

    [[nodiscard]] bool same_as(const Transcript& other) const {
        return messages == other.messages && commands == other.commands && fault == other.fault;
    }
};

inline void append_messages(std::string& out, const MessageBatch& batch) {
    for (const Message message : batch) {
        char before = '(';
        for (const Bytes frame : message) {
            out += before;
            out += as_text(frame);
            before = '|';
        }
        out += ')';
    }
}

/// Feeds `stream` in pieces, whose sizes repeat cyclically, as a session would: it reads only when no complete message
/// is left, and processes a batch before the next read.
[[nodiscard]] inline Transcript feed(Receiver& receiver, Bytes stream, const std::vector<std::size_t>& pieces,
                                     const ReceiverSetting& setting = {}) {
    Transcript transcript;
    BufferPool pool(setting.buffer_bytes);
    Input input(pool);
    MessageBatch batch;
    std::size_t piece = 0;
    for (;;) {
        std::size_t budget = setting.frames_per_turn;
        batch.clear();
        Receiver::Status status = receiver.decode(input, batch, budget);
        while (status == Receiver::Status::command) {
            transcript.commands += "<" + std::string(as_text(receiver.command())) + ">";
            status = receiver.decode(input, batch, budget);
        }
        append_messages(transcript.messages, batch);
        if (status == Receiver::Status::violation) {
            transcript.fault = receiver.fault();
            return transcript;
        }
        if (status == Receiver::Status::out_of_turn) {
            continue;
        }
        if (stream.empty()) {
            return transcript;
        }
        const auto room = input.room();
        const std::size_t bytes = std::min({room.size(), stream.size(), pieces[piece++ % pieces.size()]});
        std::memcpy(room.data(), stream.data(), bytes);
        input.received(bytes);
        stream = stream.subspan(bytes);
        transcript.unread_bytes_max = std::max(transcript.unread_bytes_max, input.unread().size());
    }
}

[[nodiscard]] inline Transcript transcript(Bytes stream, const std::vector<std::size_t>& pieces,
                                           const ReceiverSetting& setting = {}) {
    Receiver receiver(setting.message_bytes_max, setting.frames_per_message_max);
    return feed(receiver, stream, pieces, setting);
}

}  // namespace telegate::test
