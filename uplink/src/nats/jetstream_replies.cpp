#include "nats/jetstream_replies.hpp"

#include "link/json_text.hpp"
#include "uplink/adapter.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace telegate::uplink {
namespace {

using Json = nlohmann::json;

/// Returns the beginning of a text: it is kept, for example for each sample that the server refuses.
std::string short_text(const Json& text) {
    constexpr std::size_t bytes_max = 256;  // longer than any name or description of the server
    return json_string(text).substr(0, bytes_max);
}

/// Returns the description of an error; "" if the reply is none.
std::string error_of(const Json& reply) {
    if (!reply.is_object()) {
        return "the server's response is not JSON";
    }
    const Json& error = json_member(reply, "error");
    if (error.is_null()) {
        return "";
    }
    const std::string description = short_text(json_member(error, "description"));
    return description.empty() ? "error " + std::to_string(json_number(json_member(error, "code"))) : description;
}

}  // namespace

PublishReply read_publish_reply(std::string_view json) {
    constexpr std::int64_t too_large = 10'054;  // exceeds max_msg_size of the stream
    const Json reply = parse_json(json);
    PublishReply read;
    read.reason = error_of(reply);
    if (read.reason.empty() && json_number(json_member(reply, "seq")) <= 0) {
        read.reason = "the response has no sequence number";
    }
    read.is_stored = read.reason.empty();
    read.stream = short_text(json_member(reply, "stream"));
    read.place = read.is_stored ? static_cast<Place>(json_number(json_member(reply, "seq"))) : 0;
    if (json_number(json_member(json_member(reply, "error"), "err_code")) == too_large) {
        read.refusal = Refusal::permanent;
    }
    read.is_duplicate = json_member(reply, "duplicate") == Json(true);
    return read;
}

std::string stream_name_request(const std::string& subjects) {
    return Json{{"subject", subjects}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

StreamName read_stream_name(std::string_view json, const std::string& subjects) {
    const Json reply = parse_json(json);
    StreamName found;
    found.problem = error_of(reply);
    const Json& streams = json_member(reply, "streams");
    if (streams.is_array()) {
        for (const Json& each : streams) {
            found.all.push_back(json_string(each));
        }
        found.name = found.all.empty() ? "" : found.all.front();
    }
    if (found.problem.empty() && found.name.empty()) {
        found.problem = "no stream has the subject " + subjects +
                        "; create one: nats stream add TELEGATE --subjects '" + subjects +
                        "' --storage file --dupe-window 10m --defaults";
    }
    return found;
}

StreamCheck check_stream(std::string_view json, const AdapterOptions& options) {
    constexpr std::int64_t ns_per_s = 1'000'000'000;
    const Json reply = parse_json(json);
    StreamCheck check;
    check.problem = error_of(reply);
    if (!check.problem.empty()) {
        return check;
    }
    check.last = static_cast<Place>(
        std::max<std::int64_t>(json_number(json_member(json_member(reply, "state"), "last_seq")), 0));
    const Json& config = json_member(reply, "config");
    const std::string name = short_text(json_member(config, "name"));
    check.identity = digest_of(name + '\n' + json_string(json_member(reply, "created")));
    const std::string edit = "; change it: nats stream edit " + name;
    const std::int64_t window_s = json_number(json_member(config, "duplicate_window")) / ns_per_s;
    const std::int64_t bytes_max = json_number(json_member(config, "max_msg_size"));
    if (json_member(config, "no_ack") == Json(true)) {
        check.problem = "stream " + name + " does not acknowledge messages" + edit + " --ack";
    } else if (json_member(config, "sealed") == Json(true)) {
        check.problem = "stream " + name + " is sealed and accepts no messages";
    } else if (window_s < options.resend_max.count()) {
        check.problem = "the duplicate window of stream " + name + " is " + std::to_string(window_s) +
                        " s, and messages may be sent again after " + std::to_string(options.resend_max.count()) +
                        " s" + edit + " --dupe-window 10m";
    } else if (bytes_max > 0 && static_cast<std::uint64_t>(bytes_max) < options.message_bytes_max) {
        check.may_divide = true;
        check.problem = "stream " + name + " accepts messages of " + std::to_string(bytes_max) + " bytes" + edit +
                        " --max-msg-size=-1, or lower batch_bytes";
    } else if (json_string(json_member(config, "storage")) == "memory") {
        check.warning = "stream " + name + " is in memory: a restart of the server loses acknowledged messages";
    } else if (json_string(json_member(config, "retention")) == "interest") {
        check.warning = "stream " + name + " has the retention policy interest: it drops messages without a consumer";
    }
    return check;
}

}  // namespace telegate::uplink
