#include "core/assert.hpp"
#include "sampler_device.hpp"

#include <algorithm>
#include <stdexcept>

// What changes the devices: all that can fail or takes long in prepare(), the rest in apply().

namespace telegate {

/// Threads: the one that prepares, then the sampling thread in apply(), then any. Limits: those of the change.
/// Failure: none. Afterwards it holds what was taken out.
struct Sampler::Prepared {
    struct Entry {
        Device* device = nullptr;
        DeviceOptions options;
        std::unique_ptr<Driver> driver;
        std::unique_ptr<SampleBatch> batch;
    };
    std::vector<Entry> set;
    std::vector<Entry> adjusted;
    std::vector<Entry> removed;
};

Sampler::Device& Sampler::device_named(const std::string& name) {
    if (Device* const known = find_name(name)) {
        return *known;
    }
    const std::size_t index = names();
    if (index == ledger_.devices()) {
        throw std::length_error("device \"" + name + "\" is one name too many: since the start there have been " +
                                std::to_string(index) + ", which is the most; a restart makes room");
    }
    by_id_[index] = std::make_unique<Device>(name, static_cast<DeviceId>(index));
    names_.store(index + 1, std::memory_order_release);
    return *by_id_[index];
}

std::shared_ptr<Sampler::Prepared> Sampler::prepare(DeviceChange change) {
    auto prepared = std::make_shared<Prepared>();
    for (auto& [options, driver] : change.set) {
        TELEGATE_ASSERT(options.interval >= DeviceOptions::interval_min);
        TELEGATE_ASSERT(options.interval <= DeviceOptions::interval_max);
        Device& device = device_named(options.name);
        const auto on_full = [this, &device](std::span<const TelemetrySample> samples) {
            hand_over(device, samples);
        };
        auto batch = std::make_unique<SampleBatch>(channels_, device.id, device.name, on_full);
        driver->open(*batch);
        if (const std::size_t refused = batch->channels_refused(); refused > 0) {
            throw std::length_error("device \"" + options.name + "\" has " + std::to_string(refused) +
                                    " channels too many: since the start there have been " +
                                    std::to_string(ChannelTable::channels_max) +
                                    " of all devices, which is the most; a restart makes room");
        }
        prepared->set.push_back({&device, std::move(options), std::move(driver), std::move(batch)});
    }
    for (DeviceOptions& options : change.adjusted) {
        Device& device = device_named(options.name);
        prepared->adjusted.push_back({&device, std::move(options), nullptr, nullptr});
    }
    for (const std::string& name : change.removed) {
        prepared->removed.push_back({&device_named(name), {}, nullptr, nullptr});
    }
    return prepared;
}

void Sampler::apply(Prepared& prepared) {
    for (auto& [device, options, driver, batch] : prepared.removed) {
        TELEGATE_ASSERT(device->driver != nullptr);
        device->remove(driver, batch);
        std::erase(devices_, device);
    }
    for (auto& [device, options, driver, batch] : prepared.set) {
        if (device->driver == nullptr) {
            devices_.push_back(device);
        }
        device->install(std::move(options), driver, batch);
    }
    for (auto& [device, options, driver, batch] : prepared.adjusted) {
        TELEGATE_ASSERT(device->driver != nullptr);
        device->adjust(std::move(options));
    }
}

DeviceId Sampler::add(DeviceOptions options, std::unique_ptr<Driver> driver) {
    TELEGATE_ASSERT(!find(options.name));
    DeviceChange change;
    change.set.push_back({std::move(options), std::move(driver)});
    const auto prepared = prepare(std::move(change));
    apply(*prepared);
    return prepared->set.front().device->id;
}

}  // namespace telegate
