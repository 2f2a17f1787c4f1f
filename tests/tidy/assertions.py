"""Every place of the product that ends the process, with the reason why only a bug of Telegate reaches it: not data,
peers, files or settings. A new one needs a row here. A fault that the outside can cause is handled instead: counted,
named as a gap, quarantined or refused."""

ON_REACTOR = "the callers in this project call it on the thread of its event loop"

# By file and expression; one row for all places of a file with the same expression.
ASSERTIONS = {
    "core/include/core/bounded_queue.hpp": {
        "capacity >= 1 && capacity <= capacity_max":
            "the settings table limits queue_size; the other queues have constant capacities",
    },
    "core/src/base/assert.cpp": {
        "std::abort": "the end of a failed assertion",
    },
    "core/src/buffers/input.cpp": {
        "bytes <= static_cast<std::size_t>(end_of_buffer() - end_of_unread())":
            "a stream reads into the space that it was offered, and the kernel returns no more",
        "unread_.empty()": "a stream lends bytes only to an input that it has read to the end",
    },
    "core/src/buffers/segment_log.cpp": {
        "memory_bytes_ == 0": "the owner of a pool is destroyed after the sessions that use its segments",
        "reinterpret_cast<std::uintptr_t>(segment->bytes.get()) % alignof(LoggedSamples) == 0":
            "operator new aligns for any fundamental type",
    },
    "core/src/buffers/segment_log.hpp": {
        "segment != nullptr && bytes <= segment->limit - segment->used":
            "commit() follows a prepare() for at least as many bytes, which the encoder or the sender has calculated",
    },
    "core/src/buffers/slot_table.cpp": {
        "capacity <= capacity_max": "the subscription index refuses subscriptions long before the table is that large",
    },
    "core/src/ledger/ledger.cpp": {
        "taken.size() <= devices_ && published.size() == taken.size()":
            "the pump passes one vector for both, indexed by device ids, of which the sampler creates devices_ at most",
        "devices <= devices_": "readers pass the number of ids that were created, which the sampler limits",
        "out.size() <= size_": "readers copy pages into vectors with the size of a page or of a part of it",
    },
    "core/src/peers/peer_table.cpp": {
        "reactor_.is_current()": ON_REACTOR,
    },
    "core/src/peers/peer_table.hpp": {
        "reactor_.is_current()": ON_REACTOR,
    },
    "core/src/publish/publish_log.cpp": {
        "message.segment->bytes.get() + message.begin == room_":
            "a message is committed where it was prepared, with nothing in between",
    },
    "core/src/publish/subscription_index.cpp": {
        "limits.subscriptions_max <= items_max": "the settings table limits the number of subscriptions",
        "number < subscribers_.size() && subscribers_[number].live":
            "a session uses the number that it was given, and only until it is removed",
    },
    "core/src/queue/waker.cpp": {
        "delay.count() > 0": "the pump passes the shortest delay of its consumers, which are positive constants",
    },
    "core/src/reactor/reactor.cpp": {
        "before == std::thread::id()": "each event loop has one thread, and no handler runs its own loop",
    },
    "core/src/samples/channel_table.cpp": {
        "index < size_.load(std::memory_order_acquire)":
            "channel ids come from add(); ids of files are looked up in the definitions of their segment",
        "index < size()": "as for at()",
    },
    "core/src/session/backlog.cpp": {
        "refuses_": "the caller checks the same flag",
        "bytes <= bytes_": "a stream never writes more than it was given",
        "partial_ + bytes == message_bytes_at(head.segment->bytes.get() + head.begin)":
            "claim() has calculated the rest of the message from the same header",
        "!is_under_way() && size_ > 0": "the callers check both",
        "!is_under_way() && messages > 0": "notices are created at a message boundary only, and are not empty",
        "!at_boundary()": "the caller checks it",
        "index <= 1 && index < size_": "the callers split the first or the second run, which exist",
    },
    "core/src/session/outbox.cpp": {
        "!wire.empty()": "copied messages have a header at least",
    },
    "core/src/session/outbox.hpp": {
        "frames.size() > 0": "publishers and services send one or two frames; a received message has one at least",
    },
    "core/src/session/sender.cpp": {
        "result.bytes <= offered": "a stream, and the kernel, never write more than they were given",
    },
    "core/src/session/session.cpp": {
        "batch.empty()": "the caller passes a batch that it has just emptied",
    },
    "core/src/session/session_reader.cpp": {
        "result.bytes > 0": "a stream reports the end of a connection with another status",
    },
    "core/src/session/write_cursor.cpp": {
        "!is_open()": "the publish log closes the tail before it opens another one",
    },
    "core/src/transport/inproc/inproc_in_flight.cpp": {
        "!is_full()": "the stream checks for capacity first",
    },
    "core/src/transport/inproc/inproc_stream.cpp": {
        "!parts.empty()": "the sender writes only while its outbox has bytes",
    },
    "core/src/transport/socket_stream.cpp": {
        "!parts.empty()": "the sender writes only while its outbox has bytes",
    },
    "core/src/zmtp/command.cpp": {
        "identity.size() <= limits::identity_bytes_max": "identities are constants of this project, see handshake.cpp",
        "context.size() <= limits::ping_context_bytes_max": "the context of a PING is a counter of fixed size",
    },
    "core/src/zmtp/curve.cpp": {
        "flags == 0 || flags == frame_flag::more || flags == frame_flag::command":
            "flags of messages that this process sends; received ones are checked by the decoder",
    },
    "core/src/zmtp/curve_handshake.cpp": {
        "prefix.size() + rest.size() == nonce.size()": "both sizes are constants",
        "bytes.size() == key_bytes": "the sizes of received commands are checked before they are divided",
        "(server_ == nullptr) != (client_ == nullptr)": "the handshake creates it only with one of the two mechanisms",
        "phase_ == Phase::start": "start() is called once, by the constructor of the handshake",
        "phase_ == Phase::failed": "the handshake passes on no command before start(), and none after the proof",
        "phase_ == Phase::proven": "finish() follows a take() that returned the status for it",
    },
    "core/src/zmtp/decoder.cpp": {
        "frame_bytes_max <= static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max())":
            "the settings table limits the size of messages",
    },
    "core/src/zmtp/frame.hpp": {
        "flags == 0 || flags == frame_flag::more || flags == frame_flag::command":
            "flags of messages that this process sends; received ones are checked by the decoder",
    },
    "core/src/zmtp/greeting.cpp": {
        "mechanism.size() <= mechanism_bytes": "the names of the mechanisms are constants",
    },
    "core/src/zmtp/handshake.cpp": {
        "options_.identity.size() <= limits::identity_bytes_max":
            "identities are set by this project's tools, which check them",
    },
    "device/src/exec/child_process.cpp": {
        "_exit": "ends a child that could not start its program",
    },
    "device/src/host/counter_rows.cpp": {
        "layout_.counters.size() + layout_.rates.size() <= columns_max": "the layouts are constants",
    },
    "device/src/sample_batch.cpp": {
        "slots_.empty()": "the plan is passed on before the driver is opened",
        "channel == Channel::none": "drivers use the channels that add_channel() has returned",
    },
    "device/src/sampler.cpp": {
        "to_index(device) < names()": "device ids come from the sampler",
    },
    "device/src/sampler_change.cpp": {
        "options.interval >= DeviceOptions::interval_min": "the settings table limits interval_ms",
        "options.interval <= DeviceOptions::interval_max": "the settings table limits interval_ms",
        "options.offset >= Duration(0) && options.offset < options.interval":
            "the plan refuses settings with such an offset, from files and from REST",
        "entry.device->driver != nullptr": "removed and adjusted devices are those of the settings in force",
        "!find(options.name)": "used at the start only, for the sections of the settings, whose names are different",
    },
    "device/src/stepping_thread.cpp": {
        "!thread_.joinable()": "each thread is started once, or after it was joined",
    },
    "device/src/thread_schedule.cpp": {
        "number <= ThreadSchedule::processor_max": "the settings table limits cpu_affinity",
        "priority <= ThreadSchedule::realtime_priority_max": "the settings table limits realtime_priority",
    },
    "gateway/src/app/daemon.cpp": {
        "std::_Exit": "a second signal requests it, while a thread does not stop",
    },
    "gateway/src/app/gateway.cpp": {
        "std::_Exit": "an abandoned thread uses the objects that would be destroyed",
    },
    "gateway/src/base/exit_code.cpp": {
        "std::_Exit": "there is no memory, and limits bound what peers and files can use of it",
    },
    "gateway/src/base/json_object.cpp": {
        "!name.empty() && (is_new || place->second == schema)": "the schemas and their names are constants",
    },
    "gateway/src/encode/map_notices.cpp": {
        "text.size() <= room_.size() - size_":
            "the longest notice fits: names are topic parts of limited length, whatever a file or a device says",
        "room_.size() - size_ >= TimeText::copied_bytes": "as for text",
    },
    "gateway/src/encode/record_notices.cpp": {
        "false": "the reasons of gaps are the constants of this table; those of files are checked when they are read",
    },
    "gateway/src/encode/time_text.cpp": {
        "size_ <= copied_bytes": "the text before and after the time is a constant of the encoders",
    },
    "gateway/src/endpoints/publishers.cpp": {
        "line != lines_.end()": "formats of endpoints and peers, each of which has a publisher for its whole life",
    },
    "gateway/src/events/events.cpp": {
        "ring_.empty()": "restored once, before any thread reports events",
    },
    "gateway/src/line/pump.cpp": {
        "parts_.reactor.is_current()": ON_REACTOR,
        "sample.seq > progress.reached()":
            "the samplers number the samples of a channel in ascending order, and the queue keeps the order of a channel",
    },
    "store/src/log/sample_log.cpp": {
        "first_seq > state.last_seq":
            "the pump passes on each channel in order, and LogBuffer keeps that order whatever it loses",
        "is_read": "the header was encoded by this process and is still in its memory",
    },
    "tools/perf_tool/gateway_process.cpp": {
        "_exit": "ends a child that could not start its program",
    },
    "tools/perf_tool/pipeline/load.hpp": {
        "count < ticks_.size()": "the benchmark checks full() first",
    },
    "tools/perf_tool/transport/harness.cpp": {
        "_exit": "ends the child with one side of a measurement",
    },
    "uplink/src/delivery/delivery.cpp": {
        "state_ == DeliveryState::sending && next_ < window_.size()": "the runner sends what next() has returned",
        "entry.status == Status::waiting": "next() returns waiting messages only",
    },
}
