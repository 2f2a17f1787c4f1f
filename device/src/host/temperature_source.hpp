#pragma once

#include "host/channel_names.hpp"
#include "host/proc_file.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace telegate::host {

/// Temperatures from <sys>/class/hwmon and <sys>/class/thermal.
///
/// Threads: the sampling thread.
/// Limits: sensors are searched for only in open(). At most sensors_max are read; others are counted in temp.left_out.
/// Reading takes as long as the chip needs: usually microseconds, for some (nvme, ACPI) milliseconds.
/// Failure: open() throws only std::bad_alloc; a sensor that does not respond produces no sample.
class TemperatureSource {
  public:
    static constexpr std::size_t sensors_max = 64;

    explicit TemperatureSource(const std::string& sys_root);

    void open(const Tick& tick);
    void read(const Tick& tick);
    void reset() noexcept {}

  private:
    struct Sensor {
        ProcFile file;
        SampleBatch::Channel channel = SampleBatch::Channel::none;
    };

    void find_chips(const Tick& tick);
    void find_zones(const Tick& tick);
    void add_sensor(const Tick& tick, const std::string& path, const std::string& chip, const std::string& label);

    const std::string hwmon_path_;
    const std::string thermal_path_;
    std::vector<Sensor> sensors_;
    FreeNames names_;  // of the sensors
    std::int64_t left_out_ = 0;
    SampleBatch::Channel left_out_channel_ = SampleBatch::Channel::none;
};

}  // namespace telegate::host
