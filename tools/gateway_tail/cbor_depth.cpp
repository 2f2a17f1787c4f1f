#include "cbor_depth.hpp"

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

namespace telegate::tail {
namespace {

using Json = nlohmann::json;

/// Stops the decoder when arrays and maps are nested too deeply.
/// Threads: one. Limits: cbor_depth_max. Failure: none.
class Depth final : public nlohmann::json_sax<Json> {
  public:
    bool null() override { return true; }
    bool boolean(bool /*value*/) override { return true; }
    bool number_integer(number_integer_t /*value*/) override { return true; }
    bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
    bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
    bool string(string_t& /*value*/) override { return true; }
    bool binary(binary_t& /*value*/) override { return true; }
    bool key(string_t& /*value*/) override { return true; }
    bool start_object(std::size_t /*size*/) override { return ++depth_ <= cbor_depth_max; }
    bool end_object() override { return --depth_ >= 0; }
    bool start_array(std::size_t /*size*/) override { return ++depth_ <= cbor_depth_max; }
    bool end_array() override { return --depth_ >= 0; }
    bool parse_error(std::size_t /*place*/, const std::string& /*token*/, const Json::exception& /*why*/) override {
        return false;
    }

  private:
    int depth_ = 0;
};

}  // namespace

bool is_shallow_cbor(std::string_view payload) {
    Depth depth;
    return Json::sax_parse(payload, &depth, Json::input_format_t::cbor);
}

}  // namespace telegate::tail
