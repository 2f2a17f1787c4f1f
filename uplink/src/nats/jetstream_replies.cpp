#include "nats/jetstream_replies.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace telegate::uplink {
namespace {

using Json = nlohmann::json;

Json parse(std::string_view text) {
    return Json::parse(text, nullptr, false);
}

/// Returns a member; null if there is none.
const Json& member(const Json& json, const char* key) {
    static const Json none;
    const auto found = json.is_object() ? json.find(key) : json.end();
    return json.is_object() && found != json.end() ? *found : none;
}

std::string text_of(const Json& json) {
    return json.is_string() ? json.get<std::string>() : std::string();
}

std::int64_t number_of(const Json& json) {
    return json.is_number_integer() ? json.get<std::int64_t>() : 0;
}

/// Returns the description of an error; "" if the reply is none.
std::string error_of(const Json& reply) {
    if (!reply.is_object()) {
        return "the server's response is not JSON";
    }
    const Json& error = member(reply, "error");
    if (error.is_null()) {
        return "";
    }
    std::string description = text_of(member(error, "description"));
    return description.empty() ? "error " + std::to_string(number_of(member(error, "code"))) : description;
}

}  // namespace

PublishReply read_publish_reply(std::string_view json) {
    constexpr std::int64_t too_large = 10'054;  // exceeds max_msg_size of the stream
    const Json reply = parse(json);
    PublishReply read;
    read.reason = error_of(reply);
    if (read.reason.empty() && number_of(member(reply, "seq")) <= 0) {
        read.reason = "the response has no sequence number";
    }
    read.is_stored = read.reason.empty();
    read.stream = text_of(member(reply, "stream"));
    read.place = read.is_stored ? static_cast<Place>(number_of(member(reply, "seq"))) : 0;
    if (number_of(member(member(reply, "error"), "err_code")) == too_large) {
        read.refusal = Refusal::permanent;
    }
    read.is_duplicate = member(reply, "duplicate") == Json(true);
    return read;
}

std::string stream_name_request(const std::string& subjects) {
    return Json{{"subject", subjects}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

StreamName read_stream_name(std::string_view json, const std::string& subjects) {
    const Json reply = parse(json);
    StreamName found;
    found.problem = error_of(reply);
    const Json& streams = member(reply, "streams");
    if (streams.is_array() && !streams.empty()) {
        found.name = text_of(streams[0]);
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
    const Json reply = parse(json);
    StreamCheck check;
    check.problem = error_of(reply);
    if (!check.problem.empty()) {
        return check;
    }
    check.is_found = true;
    check.last = static_cast<Place>(std::max<std::int64_t>(number_of(member(member(reply, "state"), "last_seq")), 0));
    const Json& config = member(reply, "config");
    const std::string name = text_of(member(config, "name"));
    const std::string edit = "; change it: nats stream edit " + name;
    const std::int64_t window_s = number_of(member(config, "duplicate_window")) / ns_per_s;
    const std::int64_t bytes_max = number_of(member(config, "max_msg_size"));
    if (member(config, "no_ack") == Json(true)) {
        check.problem = "stream " + name + " does not acknowledge messages" + edit + " --ack";
    } else if (member(config, "sealed") == Json(true)) {
        check.problem = "stream " + name + " is sealed and accepts no messages";
    } else if (window_s < options.resend_max.count()) {
        check.problem = "the duplicate window of stream " + name + " is " + std::to_string(window_s) +
                        " s, and messages may be sent again after " + std::to_string(options.resend_max.count()) +
                        " s" + edit + " --dupe-window 10m";
    } else if (bytes_max > 0 && static_cast<std::uint64_t>(bytes_max) < options.message_bytes_max) {
        check.problem = "stream " + name + " accepts messages of " + std::to_string(bytes_max) + " bytes" + edit +
                        " --max-msg-size=-1, or lower batch_bytes";
    } else if (text_of(member(config, "storage")) == "memory") {
        check.warning = "stream " + name + " is in memory: a restart of the server loses acknowledged messages";
    } else if (text_of(member(config, "retention")) == "interest") {
        check.warning = "stream " + name + " has the retention policy interest: it drops messages without a consumer";
    }
    return check;
}

}  // namespace telegate::uplink
