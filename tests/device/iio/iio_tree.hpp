#pragma once

#include "iio/iio_driver.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

namespace telegate::test {

/// A simulated /sys and /dev with one device. Its character device is a pipe.
class IioTree {
  public:
    IioTree() {
        tree.make_directory("dev");
        tree.make_directory("sys/bus/iio/devices");
    }
    ~IioTree() { end(); }
    IioTree(const IioTree&) = delete;
    IioTree& operator=(const IioTree&) = delete;

    ScratchDir tree;

    [[nodiscard]] static std::string at(std::string_view attribute, std::string_view device = "iio:device0") {
        return "sys/bus/iio/devices/" + std::string(device) + '/' + std::string(attribute);
    }
    void set(std::string_view attribute, std::string_view text) { tree.write(at(attribute), std::string(text) + '\n'); }
    [[nodiscard]] std::string get(std::string_view attribute) const {
        std::ifstream file(tree.path(at(attribute)));
        std::string text;
        std::getline(file, text);
        return text;
    }

    /// A buffer channel, disabled.
    void scan_element(const std::string& channel, int index, std::string_view type) {
        set("scan_elements/in_" + channel + "_en", "0");
        set("scan_elements/in_" + channel + "_index", std::to_string(index));
        set("scan_elements/in_" + channel + "_type", type);
    }
    void buffer() {
        set("buffer/enable", "0");
        set("buffer/length", "2");
        set("current_timestamp_clock", "realtime");
        REQUIRE(::mkfifo(tree.path("dev/iio:device0").c_str(), 0600) == 0);
    }
    /// Writes frames, or parts of them, to the pipe that the driver has open.
    void put(std::span<const std::byte> bytes) {
        if (writer_ < 0) {
            writer_ = ::open(tree.path("dev/iio:device0").c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
            REQUIRE(writer_ >= 0);
        }
        REQUIRE(::write(writer_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    }
    /// Simulates unplugging the device.
    void end() {
        if (writer_ >= 0) {
            ::close(writer_);
            writer_ = -1;
        }
    }

    [[nodiscard]] IioDriverOptions options() const {
        IioDriverOptions options;
        options.device = "adc";
        options.sys_root = tree.path("sys");
        options.dev_root = tree.path("dev");
        return options;
    }

  private:
    int writer_ = -1;
};

}  // namespace telegate::test
