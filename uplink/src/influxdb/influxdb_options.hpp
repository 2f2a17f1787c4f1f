#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace telegate::uplink {

/// The settings of uplinks that write InfluxDB line protocol.
struct InfluxdbOptions {
    /// How the quality of a sample is written.
    enum class Quality : std::uint8_t {
        skip_bad,  // not; bad samples are omitted
        tag,
        field,
    };
    enum class Integers : std::uint8_t { real, integer };
    enum class Compression : std::uint8_t { gzip, none };

    std::string database;  // "": none, for servers that have only one; likewise the next ones
    std::string bucket;
    std::string org;
    std::string proxy;  // URL; "": none
    std::string measurement = "{device}";
    std::string field = "{channel}";
    std::vector<std::string> tags{"gateway", "*"};
    Quality quality = Quality::skip_bad;
    Integers integers = Integers::real;
    std::string gaps = "telegate_gaps";  // measurement; "": gaps are omitted
    Compression compression = Compression::gzip;
};

}  // namespace telegate::uplink
