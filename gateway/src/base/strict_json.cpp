#include "base/strict_json.hpp"

#include "base/json_excerpt.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace telegate {
namespace {

/// Checks each parser event against the limits. Threads: one. Limits: those given. Failure: throws JsonFault.
class JsonWatch {
  public:
    explicit JsonWatch(JsonLimits limits) noexcept : limits_(limits) {}

    template <class Json>
    bool take(typename Json::parse_event_t event, const Json& parsed) {
        using Event = typename Json::parse_event_t;
        if (event == Event::object_start || event == Event::array_start) {
            if (objects_.size() == limits_.depth_max) {
                throw JsonFault{"is nested too deeply: must be at most " + std::to_string(limits_.depth_max) +
                                " levels"};
            }
            objects_.emplace_back();
        } else if (event == Event::object_end || event == Event::array_end) {
            objects_.pop_back();
        } else if (event == Event::key) {
            take_key(parsed.template get_ref<const std::string&>());
        }
        return true;
    }

  private:
    struct Object {  // or an array, which has no keys
        std::set<std::string, std::less<>> keys;
        std::string last;
    };

    void take_key(const std::string& key) {
        Object& object = objects_.back();
        object.last = key;
        if (!object.keys.insert(key).second) {
            throw JsonFault{"is a duplicate key: must appear once", pointer()};
        }
        if (object.keys.size() > limits_.keys_max) {
            throw JsonFault{"has an object with too many keys: must be at most " + std::to_string(limits_.keys_max)};
        }
    }
    [[nodiscard]] std::string pointer() const {
        std::string text;
        for (const Object& object : objects_) {
            text += json_pointer_part(object.last);
        }
        return text;
    }

    const JsonLimits limits_;
    std::vector<Object> objects_;  // the open ones
};

JsonFault not_json(std::size_t byte) {
    return {"is not JSON in UTF-8, see byte " + std::to_string(byte), "", byte};
}

template <class Json>
std::optional<JsonFault> read(std::string_view text, JsonLimits limits, Json& json) {
    // A NUL ends the text for the parser, and JSON cannot contain it.
    if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
        return not_json(nul + 1);
    }
    JsonWatch watch(limits);
    try {
        json = Json::parse(text, [&](int /*depth*/, typename Json::parse_event_t event, Json& value) {
            return watch.take<Json>(event, value);
        });
        return std::nullopt;
    } catch (JsonFault& fault) {
        return std::move(fault);
    } catch (const typename Json::parse_error& error) {
        return not_json(error.byte);
    } catch (const typename Json::out_of_range&) {
        return JsonFault{"contains a number that is out of range"};
    }
}

}  // namespace

std::optional<JsonFault> read_strict_json(std::string_view text, JsonLimits limits, nlohmann::ordered_json& json) {
    return read(text, limits, json);
}

std::optional<JsonFault> read_strict_json(std::string_view text, JsonLimits limits, nlohmann::json& json) {
    return read(text, limits, json);
}

}  // namespace telegate
